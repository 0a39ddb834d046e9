#include "verify/races.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace circoll::verify {
namespace {

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

}  // namespace circoll::verify
