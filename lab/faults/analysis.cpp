// The analysis of failures: goals, and whether what survivors hold meets them.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "faults/faults.hpp"
#include "repair/cover.hpp"
#include "repair/repair.hpp"
#include "repair/stage.hpp"
#include "symbolic/execution.hpp"
#include "symbolic/expressions.hpp"

namespace circoll {
namespace {

using repair::below;
using repair::bit;
using repair::check_progress;
using repair::check_size;
using repair::Cover;
using repair::Goal;
using repair::HeldValue;
using repair::Known;
using repair::LinkedSchedules;
using repair::Set;
using repair::set_of;
using repair::Stage;

Known both(Known a, Known b) {
  if (a == Known::no || b == Known::no) return Known::no;
  return a == Known::yes && b == Known::yes ? Known::yes : Known::unknown;
}
Known either(Known a, Known b) {
  if (a == Known::yes || b == Known::yes) return Known::yes;
  return a == Known::no && b == Known::no ? Known::no : Known::unknown;
}

FailureClass class_of(Known full, Known surv, Known each) {
  if (full == Known::unknown || surv == Known::unknown) return FailureClass::unknown;
  if (full == Known::yes) return surv == Known::yes ? FailureClass::both : FailureClass::full;
  if (surv == Known::yes) return FailureClass::surv;
  if (each == Known::unknown) return FailureClass::unknown;
  return each == Known::yes ? FailureClass::mix : FailureClass::none;
}

std::vector<Set> sets_of_survivors(const std::vector<HeldValue>& held, std::uint64_t failed) {
  std::vector<Set> sets;
  sets.reserve(held.size());
  for (const HeldValue& h : held) {
    if ((h.holders & ~failed) != 0) sets.push_back(h.set);
  }
  return sets;
}

}  // namespace

struct FaultAnalysis::Impl {
  Impl(std::vector<Schedule> ranks, Keep kept, bool idempotent, FailureBounds searched)
      : program(std::move(ranks), idempotent), keep(kept), bounds(searched), goals(repair::goals_of(program)) {
    Stage stage(program, keep);
    for (std::uint32_t k = 0; k <= program.of(0).rounds; ++k) {
      stage.run_to(k);
      held_after.push_back(stage.held());
    }
  }

  using HeldOfBlocks = std::vector<std::vector<HeldValue>>;
  [[nodiscard]] FailureOutcome judge(const HeldOfBlocks& held, std::uint64_t failed) const;
  /// The number of pieces of the worst block, of the wanted contributions. -1 once it is unknown for a block.
  [[nodiscard]] int pieces_of(const HeldOfBlocks& held, std::uint64_t failed, Set wanted) const;
  [[nodiscard]] Cover cover(std::span<const Set> sets, Set goal, std::int64_t to_minimize) const {
    return repair::find_cover(sets, goal, program.idempotent, bounds.to_decide, to_minimize);
  }
  [[nodiscard]] static int copies_in(const std::vector<HeldValue>& held, Rank rank, std::uint64_t failed);
  void count_lost(const HeldOfBlocks& held, std::uint64_t failed, FailureOutcome& outcome) const;
  [[nodiscard]] Stage stage_after(std::uint32_t k) const {
    Stage stage(program, keep);
    stage.run_to(k);
    return stage;
  }

  LinkedSchedules program;
  Keep keep;
  FailureBounds bounds;
  std::vector<Goal> goals;
  std::vector<HeldOfBlocks> held_after;  ///< by the number of rounds that have ended
};

int FaultAnalysis::Impl::copies_in(const std::vector<HeldValue>& held, Rank rank, std::uint64_t failed) {
  std::uint64_t holders = 0;
  for (const HeldValue& h : held) {
    if ((h.set & bit(rank)) != 0) holders |= h.holders;
  }
  return std::popcount(holders & ~failed);
}

void FaultAnalysis::Impl::count_lost(const HeldOfBlocks& held, std::uint64_t failed, FailureOutcome& outcome) const {
  const Schedule& any = program.of(0);
  const bool to_all = symbolic::contributes_to_all(any.collective);
  for (Block b = 0; b < any.blocks(); ++b) {
    const Set contributing = failed & (to_all ? below(program.size()) : bit(symbolic::contributor(any, b)));
    if (contributing == 0) continue;
    ++outcome.contributed;
    bool lost = false;
    for (Set rest = contributing; rest != 0 && !lost; rest &= rest - 1)
      lost = copies_in(held[static_cast<std::size_t>(b)], std::countr_zero(rest), failed) == 0;
    outcome.lost += lost ? 1 : 0;
  }
}

FailureOutcome FaultAnalysis::Impl::judge(const HeldOfBlocks& held, std::uint64_t failed) const {
  FailureOutcome outcome;
  count_lost(held, failed, outcome);
  Known full = Known::yes;
  Known surv = Known::yes;
  Known each = Known::yes;
  bool anything = false;  // is left to be put together from survivors' contributions
  for (const Goal& goal : goals) {
    if ((goal.users & ~failed) == 0) continue;
    ++outcome.needed;
    const std::vector<HeldValue>& here = held[static_cast<std::size_t>(goal.block)];
    const std::vector<Set> sets = sets_of_survivors(here, failed);
    const Set rest = goal.all & ~failed;
    const Known of_all = cover(sets, goal.all, 0).possible;
    const Known of_rest = rest == goal.all ? of_all : cover(sets, rest, 0).possible;
    full = both(full, of_all);
    surv = both(surv, of_rest);
    each = both(each, either(of_all, of_rest));
    anything = anything || rest != 0 || goal.all == 0;
    for (Set f = goal.all & failed; f != 0; f &= f - 1) {
      const int copies = copies_in(here, std::countr_zero(f), failed);
      outcome.copies = outcome.copies < 0 ? copies : std::min(outcome.copies, copies);
    }
  }
  if (!anything && outcome.needed > 0) {
    // Nothing but the failed ranks' data was wanted.
    surv = Known::no;
    each = full;
  }
  outcome.what = class_of(full, surv, each);
  if (full == Known::yes || (full == Known::no && surv == Known::yes))
    outcome.pieces = pieces_of(held, failed, full == Known::yes ? ~Set{0} : ~failed);
  return outcome;
}

int FaultAnalysis::Impl::pieces_of(const HeldOfBlocks& held, std::uint64_t failed, Set wanted) const {
  int most = 0;
  for (const Goal& goal : goals) {
    if ((goal.users & ~failed) == 0) continue;
    const std::vector<Set> sets = sets_of_survivors(held[static_cast<std::size_t>(goal.block)], failed);
    const int pieces = cover(sets, goal.all & wanted, bounds.to_minimize).pieces;
    if (pieces < 0) return -1;
    most = std::max(most, pieces);
  }
  return most;
}

namespace {

std::vector<Schedule> ranks_of(const Algorithm& algorithm, Collective collective, const Shape& shape) {
  check_size(shape.size);
  std::vector<Schedule> ranks;
  Shape own = shape;
  for (own.rank = 0; own.rank < shape.size; ++own.rank) ranks.push_back(build_schedule(algorithm, collective, own));
  return ranks;
}

void check_round(std::uint32_t k, std::uint32_t rounds, bool within) {
  if (within ? k < rounds : k <= rounds) return;
  throw Error(ErrorCode::invalid_argument,
              "round " + std::to_string(k) + " is beyond the end: there are " + std::to_string(rounds) + " rounds");
}

}  // namespace

FaultAnalysis::FaultAnalysis(const Algorithm& algorithm, Collective collective, const Shape& shape, Keep keep,
                             FailureBounds bounds)
    : FaultAnalysis(ranks_of(algorithm, collective, shape), keep,
                    needs_of(algorithm, collective, shape.params).idempotent, bounds) {}

FaultAnalysis::FaultAnalysis(std::vector<Schedule> ranks, Keep keep, bool idempotent, FailureBounds bounds) {
  if (ranks.empty()) throw Error(ErrorCode::invalid_argument, "a collective without ranks has no failures");
  check_size(static_cast<Rank>(ranks.size()));
  try {
    const bool may_overlap = idempotent || ranks[0].collective == Collective::barrier;
    impl_ = std::make_shared<const Impl>(std::move(ranks), keep, may_overlap, bounds);
  } catch (const Unmatched& end) {
    throw Error(ErrorCode::invalid_argument, "the schedules do not fit together: " + end.what);
  } catch (const symbolic::Refuted& refuted) {
    throw Error(ErrorCode::invalid_argument, "the schedules are wrong: " + refuted.what);
  }
}

Rank FaultAnalysis::size() const { return impl_->program.size(); }
std::uint32_t FaultAnalysis::rounds() const { return impl_->program.of(0).rounds; }
Block FaultAnalysis::blocks() const { return impl_->program.of(0).blocks(); }

FailureOutcome FaultAnalysis::after(std::uint32_t k, std::span<const Rank> failed) const {
  check_round(k, rounds(), false);
  return impl_->judge(impl_->held_after[k], set_of(failed, size()));
}

std::vector<Delivery> FaultAnalysis::within(std::uint32_t k, std::span<const Rank> failed_ranks) const {
  check_round(k, rounds(), true);
  const std::uint64_t failed = set_of(failed_ranks, size());
  std::vector<StepOfRank> sends;
  for (Rank f = 0; f < size(); ++f) {
    if ((failed & bit(f)) == 0) continue;
    const std::vector<Step>& steps = impl_->program.of(f).steps;
    for (StepIndex i = 0; i < steps.size(); ++i) {
      if (steps[i].kind == StepKind::send && steps[i].round == k && (failed & bit(steps[i].peer)) == 0)
        sends.push_back({f, i});
    }
  }
  if (sends.size() > 10) {
    throw Error(ErrorCode::unsupported,
                "more than 10 failed ranks send in a round: their messages arrive in too many orders");
  }
  const Stage before = impl_->stage_after(k);
  std::vector<Delivery> deliveries;
  for (std::uint64_t choice = 0; choice < std::uint64_t{1} << sends.size(); ++choice) {
    Delivery delivery;
    std::vector<StepOfRank> lost;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      if ((choice >> i & 1) != 0) {
        delivery.arrived_from.push_back(sends[i].rank);
      } else {
        lost.push_back(sends[i]);
      }
    }
    Stage stage(before);
    stage.run_to(k + 1, lost);
    delivery.outcome = impl_->judge(stage.held(), failed);
    deliveries.push_back(std::move(delivery));
  }
  return deliveries;
}

FailureOutcome FaultAnalysis::ahead(std::uint32_t k, std::span<const Rank> failed) const {
  check_round(k, rounds(), false);
  const std::uint64_t set = set_of(failed, size());
  Stage stage = impl_->stage_after(k);
  stage.run_without(set);
  return impl_->judge(stage.held(), set);
}

Repair FaultAnalysis::repair_after(std::uint32_t k, std::span<const Rank> failed) const {
  check_round(k, rounds(), false);
  const std::uint64_t set = set_of(failed, size());
  return repair::plan_repair(impl_->program, impl_->stage_after(k), set, impl_->goals, impl_->bounds);
}

Repair FaultAnalysis::repair(const Progress& progress, std::span<const Rank> failed) const {
  const std::uint64_t set = set_of(failed, size());
  check_progress(impl_->program, progress, set);
  Stage stage(impl_->program, impl_->keep);
  stage.repeat(progress, set);
  return repair::plan_repair(impl_->program, stage, set, impl_->goals, impl_->bounds);
}

}  // namespace circoll
