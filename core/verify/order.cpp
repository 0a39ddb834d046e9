// The order of a rank's steps: no step breaks by itself, and no two unordered steps share memory.
#include "verify/proof.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace circoll::verify {
namespace {

// Within one step: does it write a slot twice, or over something that it still has to read?

/// A wrong overlap of operands, and its block.
struct Aliasing {
  Block block;
  std::string what;
};

/// Adjacent slots, and which blocks of the operand they hold: the position-th and those after it.
struct Stretch {
  std::int32_t buffer;
  Slot first;
  Slot end;
  std::int64_t position;
};

bool before(const Stretch& a, const Stretch& b) {
  return a.buffer != b.buffer ? a.buffer < b.buffer : a.first < b.first;
}

std::vector<Stretch> stretches(const Schedule& schedule, Operand o) {
  std::vector<Stretch> result;
  result.reserve(o.length + 1);
  std::int64_t position = 0;
  for (const Range& range : schedule.operand(o)) {
    const Slot slots = schedule.buffers[static_cast<std::size_t>(range.buffer)].slots;
    const Slot end = range.first + range.count;
    result.push_back({range.buffer, range.first, std::min(end, slots), position});
    if (end > slots) result.push_back({range.buffer, 0, end - slots, position + slots - range.first});
    position += range.count;
  }
  return result;
}

std::int32_t storage_of(const Schedule& schedule, std::int32_t buffer) {
  return schedule.buffers[static_cast<std::size_t>(buffer)].storage;
}

/// Stretches of what a step writes, by their places. Finds a slot that it would write twice.
std::optional<Aliasing> find_twice(const Schedule& schedule, const std::vector<Stretch>& written) {
  for (std::size_t i = 1; i < written.size(); ++i) {
    const Stretch& a = written[i - 1];
    const Stretch& b = written[i];
    if (a.buffer == b.buffer && b.first < a.end) {
      return Aliasing{schedule.block_of(b.buffer, b.first), "a slot is written twice by one step"};
    }
    if (a.buffer != b.buffer && storage_of(schedule, a.buffer) == storage_of(schedule, b.buffer)) {
      return Aliasing{schedule.block_of(b.buffer, b.first), "two views of one storage are written by one step"};
    }
  }
  return std::nullopt;
}

/// Finds slots that are written and read for different blocks; `apart`: for any.
std::optional<Aliasing> find_shift(const Schedule& schedule, const std::vector<Stretch>& written, Operand read,
                                   bool apart) {
  const auto shares = [&](const Stretch& a, std::int32_t buffer) {
    return a.buffer != buffer && storage_of(schedule, a.buffer) == storage_of(schedule, buffer);
  };
  for (const Stretch& from : stretches(schedule, read)) {
    // Stretches of what is written are disjoint, so those that overlap follow the last one that begins before.
    auto at = std::upper_bound(written.begin(), written.end(), from, before);
    if (at != written.begin()) --at;
    for (; at != written.end() && !before({from.buffer, from.end, from.end, 0}, *at); ++at) {
      const Slot slot = std::max(at->first, from.first);
      if (at->buffer != from.buffer || slot >= std::min(at->end, from.end)) continue;
      if (apart || at->position - at->first != from.position - from.first) {
        return Aliasing{schedule.block_of(from.buffer, slot), "a slot that it reads for another block is written"};
      }
    }
    const auto view =
        std::find_if(written.begin(), written.end(), [&](const Stretch& s) { return shares(s, from.buffer); });
    if (from.buffer >= first_scratch_buffer && view != written.end()) {
      return Aliasing{schedule.block_of(from.buffer, from.first), "it reads one view of a storage and writes another"};
    }
  }
  return std::nullopt;
}

std::vector<Stretch> sorted_stretches(const Schedule& schedule, Operand o) {
  std::vector<Stretch> result = stretches(schedule, o);
  if (result.size() > 1) std::sort(result.begin(), result.end(), before);
  return result;
}

/// Finds what a message that is combined as it arrives shares with the result or the other operand.
std::optional<Aliasing> find_overlap_of_message(const Schedule& schedule, const Step& step) {
  const std::vector<Stretch> message = sorted_stretches(schedule, message_operand(step));
  if (auto twice = find_twice(schedule, message)) return twice;
  if (auto shared = find_shift(schedule, message, own_operand(step), true)) return shared;
  if (std::ranges::equal(schedule.operand(message_operand(step)), schedule.operand(step.dst))) return std::nullopt;
  return find_shift(schedule, message, step.dst, true);
}

/// Finds an overlap that breaks a step whose blocks are done in any order and in one piece. Executors may do so. The
/// destination must name each slot once. An operand of a reduction or copy may share slots with the destination only
/// block by block (dst = left or dst = right). It must not be shifted, and not reach the slots through another view of
/// its memory. A message that is combined as it arrives shares no slot with the other operand. With the result it
/// shares slots only block by block.
std::optional<Aliasing> find_aliasing(const Schedule& schedule, const Step& step) {
  const std::vector<Stretch> dst = sorted_stretches(schedule, step.dst);
  if (auto twice = find_twice(schedule, dst)) return twice;
  if (step.kind == StepKind::send || step.kind == StepKind::recv) return std::nullopt;
  for (const Operand o : operands_read(step)) {
    if (auto shift = find_shift(schedule, dst, o, false)) return shift;
  }
  return step.kind == StepKind::recv_reduce ? find_overlap_of_message(schedule, step) : std::nullopt;
}

// Are steps that touch the same slot ordered? Checked by other means than dependencies are derived by.

/// Answers "must a end before b starts?": by bit sets of ancestors while they are small, else by search.
class Order {
 public:
  Order(const Schedule& schedule, const Dependencies& d) : d_(d), steps_(schedule.steps.size()) {
    if (steps_ > most_bitset_steps) return;
    words_ = (steps_ + 63) / 64;
    ancestors_.assign(steps_ * words_, 0);
    for (StepIndex i = 0; i < steps_; ++i) {
      for (const StepIndex j : d.successors(i)) {
        if (j <= i) continue;  // a backward edge orders nothing; the deadlock check finds the cycle
        for (std::size_t w = 0; w < words_; ++w) ancestors_[j * words_ + w] |= ancestors_[i * words_ + w];
        ancestors_[j * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
      }
    }
  }

  [[nodiscard]] bool before(StepIndex a, StepIndex b) {
    if (words_ > 0) return (ancestors_[b * words_ + a / 64] >> (a % 64) & 1) != 0;
    const auto direct = d_.successors(a);
    if (std::find(direct.begin(), direct.end(), b) != direct.end()) return true;
    seen_.assign(steps_, false);
    stack_.assign(1, a);
    while (!stack_.empty()) {
      const StepIndex top = stack_.back();
      stack_.pop_back();
      for (const StepIndex next : d_.successors(top)) {
        if (next == b) return true;
        if (next > top && next < b && !seen_[next]) {
          seen_[next] = true;
          stack_.push_back(next);
        }
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t most_bitset_steps = 4096;
  const Dependencies& d_;
  std::size_t steps_;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> ancestors_;
  std::vector<bool> seen_;
  std::vector<StepIndex> stack_;
};

/// A contiguous stretch that a step uses.
struct Access {
  StepIndex step;
  std::int32_t buffer;
  std::int32_t storage;
  Slot first;
  Slot end;
  bool writes;
};

std::vector<Access> accesses_of(const Schedule& schedule) {
  std::vector<Access> result;
  result.reserve(schedule.ranges.size() + 8);
  const auto add = [&](StepIndex step, Operand o, bool writes) {
    for (const Range& range : schedule.operand(o)) {
      const Buffer& b = schedule.buffers[static_cast<std::size_t>(range.buffer)];
      const Slot end = range.first + range.count;
      result.push_back({step, range.buffer, b.storage, range.first, std::min(end, b.slots), writes});
      if (end > b.slots) result.push_back({step, range.buffer, b.storage, 0, end - b.slots, writes});
    }
  };
  for (StepIndex s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    for (const Operand o : operands_read(step)) add(s, o, false);
    for (const Operand o : operands_written(step)) add(s, o, true);
  }
  return result;
}

/// Every pair of accesses: for schedules of few, long ranges.
std::optional<Race> among_pairs(const std::vector<Access>& accesses, Order& order) {
  for (std::size_t j = 0; j < accesses.size(); ++j) {
    const Access& b = accesses[j];
    for (std::size_t i = 0; i < j; ++i) {
      const Access& a = accesses[i];
      if (a.storage != b.storage || a.step == b.step || !(a.writes || b.writes)) continue;
      if (a.buffer == b.buffer && (a.end <= b.first || b.end <= a.first)) continue;
      if (!order.before(a.step, b.step)) return Race{a.step, b.step, b.buffer, std::max(a.first, b.first)};
    }
  }
  return std::nullopt;
}

/// Compares slot by slot, in program order. A reader follows the last writer; a writer follows the readers since, or
/// the last writer. Order is transitive, so these pairs imply all others. For schedules of many short ranges.
std::optional<Race> among_slots(const Schedule& schedule, const std::vector<Access>& accesses, Order& order) {
  constexpr StepIndex nobody = std::numeric_limits<StepIndex>::max();
  struct State {
    StepIndex writer = nobody;
    std::uint32_t readers = nobody;  // since the last write: a list in `readers`
  };
  struct Reader {
    StepIndex step;
    std::uint32_t next;
  };
  std::vector<Reader> readers;
  std::vector<State> slots;
  std::vector<std::size_t> offset;  // of each buffer in `slots`
  // The lives of a storage: stretches of accesses through one view. All of one must follow all of the one before; those
  // of earlier lives then come before, through these.
  struct Life {
    std::int32_t view = -1;
    std::vector<StepIndex> users;
    std::vector<StepIndex> users_before;
  };
  std::vector<Life> lives(schedule.buffers.size());
  for (const Buffer& buffer : schedule.buffers) {
    offset.push_back(slots.size());
    slots.resize(slots.size() + static_cast<std::size_t>(buffer.slots));
  }
  const auto ordered = [&](StepIndex a, StepIndex b) { return a == nobody || a == b || order.before(a, b); };
  for (const Access& access : accesses) {
    for (Slot s = access.first; s < access.end; ++s) {
      State& state = slots[offset[static_cast<std::size_t>(access.buffer)] + static_cast<std::size_t>(s)];
      if (!ordered(state.writer, access.step)) return Race{state.writer, access.step, access.buffer, s};
      if (!access.writes) {
        readers.push_back({access.step, state.readers});
        state.readers = static_cast<std::uint32_t>(readers.size() - 1);
        continue;
      }
      for (std::uint32_t i = state.readers; i != nobody; i = readers[i].next) {
        if (!ordered(readers[i].step, access.step)) return Race{readers[i].step, access.step, access.buffer, s};
      }
      state.readers = nobody;
      state.writer = access.step;
    }
    Life& life = lives[static_cast<std::size_t>(access.storage)];
    if (life.view != access.buffer) {
      life.view = access.buffer;
      life.users_before.swap(life.users);
      life.users.clear();
    }
    for (const StepIndex user : life.users_before) {
      if (!ordered(user, access.step)) return Race{user, access.step, access.buffer, access.first};
    }
    if (life.users.empty() || life.users.back() != access.step) life.users.push_back(access.step);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Race> find_race(const Schedule& schedule, const Dependencies& dependencies) {
  Order order(schedule, dependencies);
  const std::vector<Access> accesses = accesses_of(schedule);
  std::size_t touched = 0;
  for (const Access& a : accesses) touched += static_cast<std::size_t>(a.end - a.first);
  if (accesses.size() * accesses.size() <= 16 * touched + 4096) return among_pairs(accesses, order);
  return among_slots(schedule, accesses, order);
}

void prove_order_of(const Schedule& s, const Dependencies& dependencies) {
  const Rank r = s.shape.rank;
  check_rounds(s, dependencies);
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    if (const auto aliasing = find_aliasing(s, s.steps[i])) {
      throw Refuted{Claim::no_race, r, i, aliasing->block, aliasing->what};
    }
  }
  if (const auto race = find_race(s, dependencies)) {
    throw Refuted{Claim::no_race, r, race->later, s.block_of(race->buffer, race->slot),
                  "it may run before step " + std::to_string(race->earlier) + " has ended, and they share slot " +
                      std::to_string(race->slot) + " of buffer " + std::to_string(race->buffer)};
  }
}

std::vector<Dependencies> prove_order(const Subject& subject, std::span<const Dependencies> given) {
  std::vector<Dependencies> dependencies;
  dependencies.reserve(subject.ranks.size());
  for (Rank r = 0; r < subject.size(); ++r) {
    dependencies.push_back(given.empty() ? derive_dependencies(subject.of(r)) : given[static_cast<std::size_t>(r)]);
    prove_order_of(subject.of(r), dependencies.back());
    subject.done(0.1 + 0.3 * static_cast<double>(r) / static_cast<double>(subject.size()));
  }
  return dependencies;
}

}  // namespace circoll::verify
