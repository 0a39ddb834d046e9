#include "wrappers/survive/guarded_comm.hpp"

#include "circoll/select.hpp"
#include "exec/mpi/serve/bound_plan.hpp"
#include "exec/mpi/serve/known_calls.hpp"

namespace circoll::mpi {
namespace {

/// A policy that serves every call.
const Policy& any_call() {
  static const Policy& classic = *make_policy("classic").release();
  return classic;
}

}  // namespace

/// The choice for a collective, where that may be another one than the choice is about.
const InternedChoice& GuardedComm::choice_for(Collective collective, const InternedChoice& choice) {
  return choice.collective == collective ? choice : *intern(collective, any_call());
}

int GuardedComm::set_up(Guard& guard, CommState& state, MPI_Comm comm) {
  std::uint64_t number = state.rank() == 0 ? guard.new_number() : 0;
  if (const int rc = PMPI_Bcast(&number, 1, MPI_UINT64_T, 0, comm); rc != MPI_SUCCESS) return rc;
  guard_ = &guard;
  state_ = &state;
  interruption_ = {.ends = &guard.mesh().ends(), .seen = 0};
  std::vector<int> members;
  for (Rank r = 0; r < state.size(); ++r) members.push_back(state.world_rank(r));
  peer_monitor_ = std::make_shared<watch::PeerMonitor>(guard.mesh(), number, static_cast<int>(state.rank()), members);
  guard.add(peer_monitor_);
  return MPI_SUCCESS;
}

void GuardedComm::clear() noexcept {
  barrier_.reset();
  survivors_.reset();
  offered_.reset();
  if (peer_monitor_ == nullptr) return;
  guard_->close(peer_monitor_);
  peer_monitor_ = nullptr;
}

bool GuardedComm::concerned() {
  interruption_.seen = interruption_.ends->load();
  for (Rank r = 0; r < state_->size(); ++r) {
    const int member = static_cast<int>(r);
    if (failed_.has(member) || r == state_->rank()) continue;
    if (guard_->mesh().has_ended(peer_monitor_->world_rank(member))) return true;
  }
  return false;
}

int GuardedComm::run(Operation& operation) {
  int rc = operation.run();
  while (rc == interrupted && !concerned()) rc = operation.wait();
  return rc;
}

int GuardedComm::commit(const Call& call) {
  if (now().size() == 1) return MPI_SUCCESS;
  if (barrier_ == nullptr) {
    const Call barrier{.collective = Collective::barrier, .comm = call.comm};
    barrier_ = std::make_unique<Operation>(barrier, now(), counts_);
    if (!barrier_->prepare(*intern(Collective::barrier, any_call()))) return MPI_ERR_INTERN;
  }
  return run(*barrier_);
}

CallResult GuardedComm::over(int error, LastResult result) {
  last_ = error == MPI_SUCCESS ? result : LastResult::none;
  peer_monitor_->make_one();
  return {.error = error, .reason = "ended by the survivors of a failure"};
}

CallResult GuardedComm::refuse(std::string_view reason) {
  CallResult outcome = over(guard_->error(), LastResult::none);
  outcome.reason = reason;
  return outcome;
}

int GuardedComm::find_operation(Attempt& attempt, CommState& state, const Call& call, const InternedChoice& choice) {
  KnownCalls& known = state.attached<KnownCalls>();
  attempt.operation = known.find(call, choice, state).served;
  if (attempt.operation != nullptr) return MPI_SUCCESS;
  attempt.own = std::make_unique<Operation>(call, state, known.counts);
  if (const int rc = find_service(*attempt.own, state, choice); rc != MPI_SUCCESS) return rc;
  if (!attempt.own->served()) {
    reason_ = attempt.own->reason();
    return MPI_SUCCESS;
  }
  attempt.operation = attempt.own.get();
  const CallShape& shape = attempt.own->shape();
  if (!is_irregular(call.collective) && known.has_seen(shape, choice) && attempt.own->repeatable())
    known.keep(std::move(attempt.own), choice, {});
  return MPI_SUCCESS;
}

CallResult GuardedComm::perform(const Call& call, const InternedChoice& choice, bool /*timed*/) {
  if (guard_->mode() == FaultMode::report && !failed_.empty() && !acknowledged_)
    return refuse("a failure has been reported, and not acknowledged");
  Attempt attempt{.call = call, .choice = choice, .kept = KeptResult(call, state_->size())};
  if (!failed_.empty()) {
    attempt.meant.emplace(call, failed_.others(static_cast<int>(state_->size())), static_cast<int>(state_->rank()));
    if (!attempt.meant->refused().empty()) return refuse(attempt.meant->refused());
    if (attempt.meant->nothing()) return over(MPI_SUCCESS, LastResult::whole);
  }
  const Call& meant = attempt.meant ? attempt.meant->call() : call;
  const int rc = find_operation(attempt, now(), meant, choice_for(meant.collective, choice));
  if (rc != MPI_SUCCESS) return {.error = rc, .handled = true};
  if (attempt.operation == nullptr) {
    if (!failed_.empty()) return refuse(reason_);
    const Guard::Unguarded native(*guard_, members_of(call.comm), to_string(call.collective).data());
    CallResult outcome = native_outcome(call_native(call), reason_);
    peer_monitor_->make_one();
    return outcome;
  }
  // A member may have failed in the meantime.
  if (interruption_.ends->load(std::memory_order_relaxed) != 0 && concerned()) [[unlikely]] {
    attempt.fresh = true;
    return recover(attempt);
  }
  int error = run(*attempt.operation);
  // A barrier is left only when all have come.
  if (error == MPI_SUCCESS && call.collective != Collective::barrier) [[likely]] {
    if (is_kept(attempt)) {
      peer_monitor_->keep([&](std::vector<std::byte>& bytes) { attempt.kept.append_to(bytes); });
    } else {
      attempt.stage = watch::CallPart::committing;
      error = commit(call);
    }
  }
  if (error == MPI_SUCCESS) [[likely]] {
    if (attempt.meant) attempt.meant->finish();
    last_ = LastResult::whole;
    peer_monitor_->make_one();
    return outcome_of(*attempt.operation, MPI_SUCCESS, attempt.own == nullptr);
  }
  if (error != interrupted) {
    // The MPI library may find out sooner that a process has ended.
    const double begin_s = PMPI_Wtime();
    while (!concerned() && PMPI_Wtime() - begin_s < 5) sched_yield();
    if (!concerned()) return {.error = error};
    attempt.spoiled = true;
  }
  return recover(attempt);
}

namespace {

/// Calls that cannot be guarded: on communicators beyond MPI_COMM_WORLD, or chosen to be native.
CallResult perform_unguarded(Guard& guard, const Call& call, const InternedChoice& choice, bool timed) {
  const Guard::Unguarded native(guard, members_of(call.comm), to_string(call.collective).data());
  return perform(call, choice, Unserved::native, timed);
}

}  // namespace

CallResult perform_guarded(Guard& guard, const Call& call, const InternedChoice& choice, bool timed) {
  CommState* state = CommState::last_used(call.comm);
  if (state == nullptr || !state->still_usable() || choice.kind == InternedChoice::Kind::native) {
    const FoundCommunicator found = find_communicator(call, choice);
    if (found.error != MPI_SUCCESS || found.state == nullptr || !found.native_reason.empty())
      return perform_unguarded(guard, call, choice, timed);
    state = found.state;
  }
  GuardedComm* guarded = state->find_attached<GuardedComm>();
  if (guarded == nullptr || !guarded->is_set_up()) [[unlikely]] {
    if (state->size() == 1 || !state->usable() || !state->is_in_world())
      return perform_unguarded(guard, call, choice, timed);
    {
      const Guard::Unguarded opening(guard, members_of(call.comm), "the first collective of a communicator");
      if (const int rc = state->open(); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
      if (state->usable()) {
        guarded = &state->attached<GuardedComm>();
        if (const int rc = guarded->set_up(guard, *state, call.comm); rc != MPI_SUCCESS)
          return {.error = rc, .handled = true};
        state->let_interrupt(guarded->interruption());
      }
    }
    if (!state->usable()) return perform_unguarded(guard, call, choice, timed);
  }
  return with_memory(*state, [&] { return guarded->perform(call, choice, timed); });
}

}  // namespace circoll::mpi
