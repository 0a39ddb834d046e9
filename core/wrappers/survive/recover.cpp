// From an interrupted call to its end: the agreement of the survivors, and what follows from it.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "wrappers/survive/guarded_comm.hpp"
#include "wrappers/survive/halted.hpp"

namespace circoll::mpi {
namespace {

/// A survivor's message that does not come for so long is lost. The failed process may have broken the MPI library's
/// memory.
constexpr std::chrono::seconds patience_of_ending(30);

using watch::CallPart;
using watch::NextStep;
using watch::Statement;
using Statements = std::vector<std::optional<Statement>>;

/// Steps that write into scratch memory. That memory is gone once a call has its result.
std::vector<bool> writes_scratch(const Schedule& schedule) {
  std::vector<bool> writes(schedule.steps.size(), false);
  for (StepIndex i = 0; i < schedule.steps.size(); ++i) {
    for (const Operand& written : operands_written(schedule.steps[i])) {
      for (const Range& range : schedule.operand(written))
        writes[i] = writes[i] || range.buffer >= first_scratch_buffer;
    }
  }
  return writes;
}

bool any_but_sends(const Plan& plan, const std::vector<bool>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] && plan.steps[i].kind != StepKind::send) return true;
  }
  return false;
}

/// True if a repair keeps the order of ranks where that matters, and gives all survivors the same bits.
bool suits(const Repair& repair, const Call& call) {
  if (!is_reducing(call.collective)) return true;
  int commutes = 0;
  PMPI_Op_commutative(call.op, &commutes);
  return (commutes != 0 || repair.guarantees.rank_order) && repair.guarantees.same_bits;
}

}  // namespace

/// The statement about this rank. Halts what is under way.
Statement GuardedComm::state_progress(Attempt& attempt) {
  const IsDead is_dead = [this](int rank) { return guard_->mesh().has_ended(rank); };
  Statement own{.communicator = peer_monitor_->communicator(),
                .rank = peer_monitor_->rank(),
                .call = peer_monitor_->made() + 1,
                .stage = attempt.stage,
                .in_place = attempt.call.sendbuf == MPI_IN_PLACE,
                .kept = is_kept(attempt)};
  Operation* const operation = attempt.operation;
  const bool repairable = !attempt.spoiled && failed_.empty() && state_->size() <= most_repaired_ranks &&
                          attempt.call.collective != Collective::barrier && operation->plan()->knows_all_blocks();
  bool begun = true;
  if (attempt.stage == CallPart::data && !attempt.spoiled) {
    const Halt halt = attempt.fresh ? Halted::stop_before_start(*operation) : attempt.halt.stop(*operation, is_dead);
    attempt.halted = true;
    begun = !attempt.fresh && (halt.ended.empty() || any_but_sends(operation->plan()->plan(), halt.ended) ||
                               any_but_sends(operation->plan()->plan(), halt.torn));
    if (repairable && !halt.ended.empty()) {
      own.ended = halt.ended;
      own.torn = halt.torn;
    }
  } else if (attempt.stage == CallPart::committing) {
    if (barrier_ != nullptr) {
      Halted halted;
      (void)halted.stop(*barrier_, is_dead);
      (void)halted.end(*barrier_, false);
    }
    if (repairable && Halted::user_of(*operation).direct()) {
      const Schedule schedule = operation->plan()->schedules()[static_cast<std::size_t>(state_->rank())];
      own.ended.assign(schedule.steps.size(), true);
      own.torn = writes_scratch(schedule);
    }
  }
  barrier_.reset();
  attempt.overwritten = attempt.overwritten || (own.in_place && begun);
  attempt.spoiled = attempt.spoiled || own.ended.empty();
  own.spoiled = attempt.spoiled;
  own.overwritten = attempt.overwritten;
  return own;
}

/// Tags for a statement. Those of an earlier one are not used again.
void GuardedComm::make_offer(Statement& own) {
  if (offered_ != nullptr) offered_->retire_tags();
  if (repair_tags_ != nullptr) repair_tags_->retire();
  offered_ = state_->offer();
  repair_tags_ = std::make_unique<TagRange>();
  state_->take_tags(repair_tags_.get());
  own.tags = {repair_tags_->own(), offered_->offered_tag()};
}

NextStep GuardedComm::agree(Statement& own) {
  return peer_monitor_->agree(
      own, [this](Statement& statement) { make_offer(statement); },
      [] {
        // Others may still be taking messages of ours.
        int found = 0;
        (void)PMPI_Iprobe(MPI_ANY_SOURCE, 0, shared_world()->comm(), &found, MPI_STATUS_IGNORE);
      });
}

void GuardedComm::go_on_without(const Statement& own, const Statements& all) {
  // Other ranks may have sent messages to ranks with which this call has not begun.
  now().retire_tags();
  failed_ = own.failed;
  acknowledged_ = false;
  const int size = static_cast<int>(state_->size());
  std::vector<int> for_repair(static_cast<std::size_t>(size), -1);
  std::vector<int> for_survivors;
  for (const int member : failed_.others(size)) {
    const auto& tags = member == own.rank ? own.tags : all[static_cast<std::size_t>(member)]->tags;
    for_repair[static_cast<std::size_t>(member)] = tags[0];
    for_survivors.push_back(tags[1]);
  }
  survivors_ = std::move(offered_);
  survivors_->settle_among(*state_, failed_.others(size), std::move(for_survivors));
  repair_tags_->set_agreed(std::move(for_repair));
}

std::optional<Repair> GuardedComm::find_repair(const Attempt& attempt, const Statement& own, const Statements& all) {
  const int size = static_cast<int>(state_->size());
  circoll::Progress ended(static_cast<std::size_t>(size));
  circoll::Progress torn(static_cast<std::size_t>(size));
  for (const int member : own.failed.others(size)) {
    const auto r = static_cast<std::size_t>(member);
    const Statement& statement = member == own.rank ? own : *all[r];
    if (statement.spoiled || statement.in_place != own.in_place) return std::nullopt;
    ended[r] = statement.ended;
    torn[r] = statement.torn;
  }
  const BoundPlan& plan = *attempt.operation->plan();
  const Selection& selection = plan.selection();
  std::vector<Rank> failed;
  for (const int rank : own.failed.members(size)) failed.push_back(rank);
  try {
    const bool idempotent = needs_of(*selection.algorithm, attempt.call.collective, selection.params).idempotent;
    Repair repair = plan_repair(plan.schedules(), idempotent, ended, torn, failed);
    if (repair.goal == FailureClass::none || !suits(repair, attempt.call)) return std::nullopt;
    return repair;
  } catch (const Error&) {
    return std::nullopt;  // on all survivors
  }
}

int GuardedComm::apply_repair(Attempt& attempt, const Repair& repair) {
  attempt.result = repair.goal == FailureClass::full ? LastResult::full : LastResult::survivors;
  const Schedule& schedule = repair.ranks[static_cast<std::size_t>(state_->rank())];
  const int rc = execute_repair(
      *attempt.operation, schedule, CommState::route_in(*state_, *repair_tags_), attempt.halted,
      [this] { return concerned(); }, [this](int rank) { return guard_->mesh().has_ended(rank); });
  if (rc == MPI_SUCCESS && attempt.halted) {
    attempt.halted = false;
    return attempt.halt.end(*attempt.operation, true);
  }
  return rc;
}

/// Forgets the operation of an attempt.
void GuardedComm::drop(Attempt& attempt) {
  if (attempt.halted && attempt.operation != nullptr) (void)attempt.halt.end(*attempt.operation, false);
  attempt.halted = false;
  attempt.operation = nullptr;
  attempt.own.reset();
}

int GuardedComm::restart(Attempt& attempt) {
  attempt.result = LastResult::survivors;
  attempt.meant.emplace(attempt.call, failed_.others(static_cast<int>(state_->size())),
                        static_cast<int>(state_->rank()));
  const Call& meant = attempt.meant->call();
  attempt.refused = !attempt.meant->refused().empty();
  if (attempt.refused) reason_ = attempt.meant->refused();
  if (attempt.refused || attempt.meant->nothing()) return MPI_SUCCESS;
  const int rc = find_operation(attempt, *survivors_, meant, choice_for(meant.collective, attempt.choice));
  if (rc != MPI_SUCCESS) return rc;
  attempt.refused = attempt.operation == nullptr;
  return attempt.refused ? MPI_SUCCESS : run(*attempt.operation);
}

/// Ends the call by a repair, a restart, or an error on all survivors. All of them have the same statements.
int GuardedComm::settle(Attempt& attempt, const Statement& own, const Statements& all) {
  const auto refuse_all = [&](std::string_view reason) {
    drop(attempt);
    attempt.refused = true;
    reason_ = reason;
    return MPI_SUCCESS;
  };
  if (guard_->mode() == FaultMode::report) return refuse_all("a rank has failed");
  if (const std::optional<Repair> repair = find_repair(attempt, own, all)) {
    attempt.how = repair->goal == FailureClass::full ? &FaultCounts::full : &FaultCounts::surv;
    attempt.stage = CallPart::data;
    return apply_repair(attempt, *repair);
  }
  bool overwritten = own.overwritten;
  for (const int member : failed_.others(static_cast<int>(state_->size()))) {
    const auto& other = all[static_cast<std::size_t>(member)];
    overwritten = overwritten || (other && other->overwritten);
  }
  if (overwritten)
    return refuse_all("a rank has failed, and the in-place call has overwritten contributions of other ranks");
  drop(attempt);
  attempt.how = &FaultCounts::restarted;
  attempt.stage = CallPart::data;
  return restart(attempt);
}

CallResult GuardedComm::end_recovery(Attempt& attempt, int error, double begin_s) {
  if (error == MPI_SUCCESS && attempt.refused) error = guard_->error();
  if (error == MPI_SUCCESS && attempt.meant && !attempt.meant->nothing()) attempt.meant->finish();
  if (error != MPI_SUCCESS) attempt.how = &FaultCounts::refused;
  drop(attempt);
  if (error != MPI_SUCCESS) repair_tags_->retire();
  repair_tags_.reset();
  offered_.reset();
  guard_->count([&](FaultCounts& counts) {
    ++(counts.*attempt.how);
    counts.longest_s = std::max(counts.longest_s, PMPI_Wtime() - begin_s);
  });
  CallResult outcome = over(error, attempt.result);
  if (error != MPI_SUCCESS) outcome.reason = reason_;
  return outcome;
}

/// A second failure has hit the call. The contents of its memory are not known any more.
void GuardedComm::retire(Attempt& attempt) {
  if (attempt.operation != nullptr && !attempt.halted && attempt.stage == CallPart::data) {
    (void)attempt.halt.stop(*attempt.operation, [this](int rank) { return guard_->mesh().has_ended(rank); });
    attempt.halted = true;
  }
  drop(attempt);
  attempt.spoiled = true;
  attempt.overwritten = attempt.overwritten || attempt.call.sendbuf == MPI_IN_PLACE;
}

CallResult GuardedComm::recover(Attempt& attempt) {
  const double begin_s = PMPI_Wtime();
  const bool is_barrier = attempt.call.collective == Collective::barrier;
  if (failed_.empty()) attempt.result = LastResult::full;
  while (true) {
    Statement own = state_progress(attempt);
    if (agree(own) == NextStep::committed) {
      if (const auto result = peer_monitor_->result_for(own)) {
        attempt.how = &FaultCounts::full;
        peer_monitor_->keep([&](std::vector<std::byte>& bytes) { bytes = *result; });
        return end_recovery(attempt, attempt.kept.put(*result), begin_s);
      }
      if (attempt.stage == CallPart::committing || is_barrier) return end_recovery(attempt, MPI_SUCCESS, begin_s);
      reason_ = "ranks do not make the same calls";
      return end_recovery(attempt, guard_->error(), begin_s);
    }
    const Statements& all = peer_monitor_->statements();
    // An operation of the survivors of an earlier failure ends with their state. It is not repaired.
    if (!failed_.empty()) drop(attempt);
    go_on_without(own, all);
    attempt.refused = false;
    // All survivors are in the call, so that a rank waits for messages only.
    const Guard::Unguarded ending(*guard_, peer_monitor_->members(), "the end of a call that a failure has hit",
                                  patience_of_ending);
    int rc = settle(attempt, own, all);
    // No rank leaves before all have decided. A rank that sees that another has left takes its own result for whole.
    if (rc == MPI_SUCCESS && (attempt.refused || !is_barrier)) {
      attempt.stage = CallPart::committing;
      rc = commit(attempt.call);
    }
    if (rc != interrupted) return end_recovery(attempt, rc, begin_s);
    retire(attempt);
  }
}

}  // namespace circoll::mpi
