#include "faults/stage.hpp"

#include <algorithm>
#include <bit>

#include "circoll/error.hpp"
#include "faults/live_slots.hpp"
#include "symbolic/contributions.hpp"

namespace circoll::faults {
namespace {

using symbolic::contributes_to_all;
using symbolic::contributor;
using symbolic::undefined;
using symbolic::Value;

Set bit(Rank rank) { return Set{1} << static_cast<unsigned>(rank); }

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
void merge(std::vector<Held>& held) {
  std::sort(held.begin(), held.end(), [](const Held& a, const Held& b) {
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

}  // namespace

Program::Program(std::vector<Schedule> schedules, bool at_least_once)
    : ranks(std::move(schedules)), matching(ranks), dependencies(derived(ranks)), idempotent(at_least_once) {}

History::History(const Program& program, Keep keep)
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
  // A copy of what the rank has put in itself is no result.
  Value& result = results_[static_cast<std::size_t>(rank * blocks_ + block)];
  if (buffer == recv_buffer && result != undefined) result = value;
}

void History::combined(Rank rank, Value left, Value right) {
  auto& combined = combined_[static_cast<std::size_t>(rank)];
  if (const std::size_t size = std::max(left, right) + std::size_t{1}; combined.size() < size) combined.resize(size);
  combined[left] = true;
  combined[right] = true;
}

Stage::Stage(const Program& program, Keep keep)
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

std::vector<std::vector<Held>> Stage::held() const {
  const std::vector<Set> sets = sets_of(execution_.expressions());
  std::vector<std::vector<Held>> held(static_cast<std::size_t>(program_->of(0).blocks()));
  for (Rank r = 0; r < program_->size(); ++r) add_of(r, held, sets);
  for (std::vector<Held>& block : held) merge(block);
  return held;
}

Set Stage::set_of(Value value, Block block, std::span<const Set> sets) const {
  const symbolic::Expressions& expressions = execution_.expressions();
  if (!expressions.is_leaf(value)) return sets[expressions.node_of(value)];
  const Schedule& any = program_->of(0);
  return bit(contributes_to_all(any.collective) ? expressions.source_of(value) : contributor(any, block));
}

void Stage::add_of(Rank rank, std::vector<std::vector<Held>>& held, std::span<const Set> sets) const {
  const Schedule& s = program_->of(rank);
  const symbolic::Memory& memory = execution_.memory(rank);
  const auto add = [&](Block block, Value value) {
    held[static_cast<std::size_t>(block)].push_back({set_of(value, block, sets), bit(rank)});
  };
  const LiveSlots live(s, [&](StepIndex i) { return execution_.ended(rank, i); });
  memory.each_value([&](std::int32_t buffer, Slot slot, Block block, Value value) {
    const Value result = history_.result(rank, block);
    const bool replaced = history_.is_combined(rank, value) ||
                          (result != undefined && result != value && !history_.is_combined(rank, result));
    if (keep_ == Keep::log || live.contains(buffer, slot) || (keep_ != Keep::live && !replaced)) add(block, value);
  });
  const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
  if (contract.input_buffer == send_buffer) {
    for (Slot slot = contract.input_first; slot < contract.input_first + contract.input_count; ++slot) {
      const Block block = s.block_of(send_buffer, slot);
      const Value value = memory.contribution(execution_.expressions(), block);
      const Value result = history_.result(rank, block);
      const bool replaced = history_.is_combined(rank, value) ||
                            (result != undefined && result != value && !history_.is_combined(rank, result));
      if (keep_ >= Keep::keep || live.contains(send_buffer, slot) || (keep_ == Keep::buf && !replaced)) {
        add(block, value);
      }
    }
  }
  for (const auto& [block, value] : history_.log(rank)) add(block, value);
}

}  // namespace circoll::faults
