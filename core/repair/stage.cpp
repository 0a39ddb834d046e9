#include "repair/stage.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <string>

#include "circoll/error.hpp"
#include "circoll/schedule.hpp"
#include "schedule/walker.hpp"
#include "symbolic/expressions.hpp"

namespace circoll::repair {
namespace {

using symbolic::contributes_to_all;
using symbolic::contributor;
using symbolic::undefined;
using symbolic::Value;

/// The sets of contributions of all expressions that are no leaves.
std::vector<Set> sets_of(const symbolic::Expressions& expressions) {
  std::vector<Set> sets;
  sets.reserve(expressions.nodes());
  const auto of = [&](Value v) {
    return expressions.is_leaf(v) ? bit(expressions.source_of(v)) : sets[expressions.node_of(v)];
  };
  expressions.each_node([&](Value left, Value right) { sets.push_back(of(left) | of(right)); });
  return sets;
}

/// Puts equal sets together, larger ones first.
void merge(std::vector<HeldValue>& held) {
  std::sort(held.begin(), held.end(), [](const HeldValue& a, const HeldValue& b) {
    const int size_a = std::popcount(a.set);
    const int size_b = std::popcount(b.set);
    return size_a != size_b ? size_a > size_b : a.set < b.set;
  });
  std::size_t last = 0;
  for (std::size_t i = 1; i < held.size(); ++i) {
    if (held[i].set == held[last].set) {
      held[last].holders |= held[i].holders;
    } else {
      held[++last] = held[i];
    }
  }
  if (!held.empty()) held.resize(last + 1);
}

std::vector<Dependencies> derived(std::span<const Schedule> ranks) {
  std::vector<Dependencies> all;
  all.reserve(ranks.size());
  for (const Schedule& s : ranks) all.push_back(derive_dependencies(s));
  return all;
}

/// The slots whose present value a later step reads, or which are results.
class LiveSlots {
 public:
  /// `ended` says which steps are over.
  LiveSlots(const Schedule& schedule, const std::function<bool(StepIndex)>& ended);

  [[nodiscard]] bool contains(std::int32_t buffer, Slot slot) const {
    return fate_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(slot)] == Fate::read;
  }

 private:
  /// The first thing that happens to the value of a slot.
  enum class Fate : std::uint8_t { nothing, read, written };
  void decide(Operand operand, Fate fate);

  const Schedule& schedule_;
  std::vector<std::vector<Fate>> fate_;
  std::vector<std::int32_t> written_view_;  // of each storage: the view that is written first, -1 if none is
};

LiveSlots::LiveSlots(const Schedule& schedule, const std::function<bool(StepIndex)>& ended)
    : schedule_(schedule), written_view_(schedule.buffers.size(), -1) {
  fate_.reserve(schedule.buffers.size());
  for (const Buffer& buffer : schedule.buffers) {
    fate_.emplace_back(static_cast<std::size_t>(buffer.slots), Fate::nothing);
  }
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    if (ended(i)) continue;
    for (const Operand& o : operands_read(schedule.steps[i])) decide(o, Fate::read);
    for (const Operand& o : operands_written(schedule.steps[i])) decide(o, Fate::written);
  }
  const CollectiveContract contract = contract_of(schedule.collective, schedule.shape, schedule.segments);
  for (Slot i = 0; i < contract.output_count; ++i) {
    Fate& fate =
        fate_[static_cast<std::size_t>(contract.output_buffer)][static_cast<std::size_t>(contract.output_first + i)];
    if (fate == Fate::nothing) fate = Fate::read;
  }
}

void LiveSlots::decide(Operand operand, Fate fate) {
  for (Walker w(schedule_, operand); !w.done(); w.advance(w.left())) {
    const auto buffer = static_cast<std::size_t>(w.buffer());
    std::int32_t& view = written_view_[static_cast<std::size_t>(schedule_.buffers[buffer].storage)];
    // Once another view of the memory has been written, nothing of this one is left to be read.
    const bool scratch = w.buffer() >= first_scratch_buffer;
    const bool gone = scratch && view >= 0 && view != w.buffer();
    for (Slot slot = w.slot(); slot < w.slot() + w.left(); ++slot) {
      Fate& known = fate_[buffer][static_cast<std::size_t>(slot)];
      if (known == Fate::nothing) known = gone ? Fate::written : fate;
    }
    if (scratch && fate == Fate::written && view < 0) view = w.buffer();
  }
}

}  // namespace

LinkedSchedules::LinkedSchedules(std::vector<Schedule> schedules, bool at_least_once)
    : ranks(std::move(schedules)), matching(ranks), dependencies(derived(ranks)), idempotent(at_least_once) {}

History::History(const LinkedSchedules& program, Keep keep)
    : blocks_(program.of(0).blocks()),
      keeps_log_(keep == Keep::log),
      combined_(program.ranks.size()),
      results_(program.ranks.size() * static_cast<std::size_t>(blocks_), undefined),
      log_(program.ranks.size()) {}

void History::arrived(Rank rank, std::int32_t buffer, Block block, Value value) {
  if (keeps_log_) log_[static_cast<std::size_t>(rank)].emplace_back(block, value);
  if (buffer == recv_buffer) results_[static_cast<std::size_t>(rank * blocks_ + block)] = value;
}

void History::copied(Rank rank, std::int32_t buffer, Block block, Value value) {
  // A copy of the rank's own input is no result.
  Value& result = results_[static_cast<std::size_t>(rank * blocks_ + block)];
  if (buffer == recv_buffer && result != undefined) result = value;
}

void History::combined(Rank rank, Value left, Value right) {
  auto& combined = combined_[static_cast<std::size_t>(rank)];
  if (const std::size_t size = std::max(left, right) + std::size_t{1}; combined.size() < size) combined.resize(size);
  combined[left] = true;
  combined[right] = true;
}

Stage::Stage(const LinkedSchedules& program, Keep keep)
    : program_(&program),
      keep_(keep),
      execution_(program.ranks, program.matching, program.dependencies, program.idempotent),
      history_(program, keep) {
  execution_.observe(&history_);
}

Stage::Stage(const Stage& other)
    : program_(other.program_), keep_(other.keep_), execution_(other.execution_), history_(other.history_) {
  execution_.observe(&history_);
}

void Stage::run_to(std::uint32_t k, std::span<const StepOfRank> lost) {
  const auto is_lost = [&](StepOfRank end) {
    return std::any_of(lost.begin(), lost.end(), [&](StepOfRank l) {
      const StepOfRank receive = program_->matching.of(l);
      return (l.rank == end.rank && l.step == end.step) || (receive.rank == end.rank && receive.step == end.step);
    });
  };
  execution_.run_while([&](StepOfRank s) {
    const Step& step = program_->of(s.rank).steps[s.step];
    return !is_message(step) || (step.round < k && (lost.empty() || !is_lost(s)));
  });
}

void Stage::run_without(std::uint64_t failed) {
  std::vector<bool> deaf(program_->ranks.size());
  for (std::size_t r = 0; r < deaf.size(); ++r) deaf[r] = (failed >> r & 1) != 0;
  execution_.run_while([&](StepOfRank s) { return !deaf[static_cast<std::size_t>(s.rank)]; }, deaf);
}

void Stage::repeat(const Progress& progress, std::uint64_t failed) {
  const auto is_failed = [&](Rank r) { return (failed >> static_cast<unsigned>(r) & 1) != 0; };
  const auto has_ended = [&](StepOfRank s) { return progress[static_cast<std::size_t>(s.rank)][s.step]; };
  const symbolic::SymbolicExecution::Gate gate = [&](StepOfRank s) {
    const Step& step = program_->of(s.rank).steps[s.step];
    const StepOfRank end = step.kind == StepKind::send ? program_->matching.of(s) : s;
    return is_failed(end.rank) || has_ended(end);
  };
  // A send may have ended whose message never came: it was on its way, or its receiver failed.
  while (true) {
    execution_.run_while(gate);
    const std::optional<StepOfRank> lost = execution_.find_ready([&](StepOfRank s) {
      return program_->of(s.rank).steps[s.step].kind == StepKind::send && !is_failed(s.rank) && has_ended(s);
    });
    if (!lost) break;
    execution_.lose(*lost);
  }
  for (Rank r = 0; r < program_->size(); ++r) {
    for (StepIndex i = 0; !is_failed(r) && i < program_->of(r).steps.size(); ++i) {
      if (has_ended({r, i}) && !execution_.ended(r, i)) {
        throw Error(ErrorCode::invalid_argument,
                    "step " + std::to_string(i) + " of rank " + std::to_string(r) + " cannot have ended");
      }
    }
  }
}

void Stage::tear(const Progress& torn, std::uint64_t failed) {
  for (Rank r = 0; r < program_->size(); ++r) {
    for (StepIndex i = 0; (failed & bit(r)) == 0 && i < program_->of(r).steps.size(); ++i) {
      if (torn[static_cast<std::size_t>(r)][i]) execution_.tear(r, i);
    }
  }
}

std::vector<std::vector<HeldValue>> Stage::held() const {
  const std::vector<Set> sets = sets_of(execution_.expressions());
  std::vector<std::vector<HeldValue>> held(static_cast<std::size_t>(program_->of(0).blocks()));
  for (Rank r = 0; r < program_->size(); ++r) {
    const auto add = [&](Block block, Value value) {
      held[static_cast<std::size_t>(block)].push_back({set_of(value, block, sets), bit(r)});
    };
    each_usable(r, [&](const SlotOfRank&, Block block, Value value) { add(block, value); });
    for (const auto& [block, value] : history_.log(r)) add(block, value);
  }
  for (std::vector<HeldValue>& block : held) merge(block);
  return held;
}

std::vector<std::vector<Placed>> Stage::placed(std::uint64_t ranks) const {
  const std::vector<Set> sets = sets_of(execution_.expressions());
  std::vector<std::vector<Placed>> placed(static_cast<std::size_t>(program_->of(0).blocks()));
  for (Rank r = 0; r < program_->size(); ++r) {
    if ((ranks & bit(r)) == 0) continue;
    each_usable(r, [&](const SlotOfRank& place, Block block, Value value) {
      placed[static_cast<std::size_t>(block)].push_back({set_of(value, block, sets), place});
    });
  }
  return placed;
}

Set Stage::set_of(Value value, Block block, std::span<const Set> sets) const {
  const symbolic::Expressions& expressions = execution_.expressions();
  if (!expressions.is_leaf(value)) return sets[expressions.node_of(value)];
  const Schedule& any = program_->of(0);
  return bit(contributes_to_all(any.collective) ? expressions.source_of(value) : contributor(any, block));
}

template <typename F>
void Stage::each_usable(Rank rank, F&& f) const {
  const Schedule& s = program_->of(rank);
  const symbolic::SymbolicMemory& memory = execution_.memory(rank);
  const LiveSlots live(s, [&](StepIndex i) { return execution_.ended(rank, i); });
  // A value is stale once it has been combined with another, or once the block's result has arrived.
  const auto is_stale = [&](Block block, Value value) {
    const Value result = history_.result(rank, block);
    return history_.is_combined(rank, value) ||
           (result != undefined && result != value && !history_.is_combined(rank, result));
  };
  memory.each_value([&](std::int32_t buffer, Slot slot, Block block, Value value) {
    if (keep_ == Keep::log || live.contains(buffer, slot) || (keep_ != Keep::live && !is_stale(block, value)))
      f(SlotOfRank{rank, buffer, slot}, block, value);
  });
  const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
  if (contract.input_buffer != send_buffer) return;
  for (Slot slot = contract.input_first; slot < contract.input_first + contract.input_count; ++slot) {
    const Block block = s.block_of(send_buffer, slot);
    const Value value = memory.contribution(execution_.expressions(), block);
    if (keep_ >= Keep::keep || live.contains(send_buffer, slot) || (keep_ == Keep::buf && !is_stale(block, value)))
      f(SlotOfRank{rank, send_buffer, slot}, block, value);
  }
}

namespace {

/// The contributions that a rank's result of a block is made of.
Set contributions_to(const Schedule& s, Block block) {
  if (s.collective == Collective::scan) return below(s.shape.rank + 1);
  if (s.collective == Collective::exscan) return below(s.shape.rank);
  return symbolic::contributes_to_all(s.collective) ? below(s.shape.size) : bit(symbolic::contributor(s, block));
}

}  // namespace

SlotOfRank output_of(const Schedule& s, Block block) {
  const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
  for (Slot slot = contract.output_first; slot < contract.output_first + contract.output_count; ++slot) {
    if (s.block_of(contract.output_buffer, slot) == block) return {s.shape.rank, contract.output_buffer, slot};
  }
  return {s.shape.rank, -1, 0};
}

bool is_movable(Collective collective) {
  return collective == Collective::reduce || collective == Collective::gather || collective == Collective::gatherv;
}

std::vector<Goal> goals_of(const LinkedSchedules& program) {
  std::vector<Goal> goals;
  const Schedule& any = program.of(0);
  const bool prefix = is_prefix(any.collective);
  const Rank p = program.size();
  std::vector<std::size_t> place(static_cast<std::size_t>(any.blocks()), 0);  // of a block's goal, plus one
  for (Rank r = 0; r < p; ++r) {
    const Schedule& s = program.of(r);
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    for (Slot i = 0; i < contract.output_count; ++i) {
      const Block block = s.block_of(contract.output_buffer, contract.output_first + i);
      std::size_t& at = place[static_cast<std::size_t>(block)];
      if (prefix || at == 0) {
        goals.push_back({block, contributions_to(s, block), 0});
        at = goals.size();
      }
      goals[at - 1].users |= is_movable(s.collective) ? below(p) : bit(r);
    }
  }
  return goals;
}

}  // namespace circoll::repair
