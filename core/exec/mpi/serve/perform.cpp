#include "exec/mpi/serve/perform.hpp"

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "exec/mpi/call/caller_buffers.hpp"
#include "exec/mpi/call/kept_arguments.hpp"
#include "exec/mpi/comm/globals.hpp"
#include "exec/mpi/serve/equal_blocks.hpp"
#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

int find_service(Operation& operation, CommState& state, const InternedChoice& choice) {
  if (operation.erroneous()) {
    // The others may have made the call, and sent.
    state.missed_call();
  } else if (!state.has_carrier()) {
    if (const int rc = state.make_carrier(); rc != MPI_SUCCESS) return rc;
    if (!state.usable()) {
      operation.leave_native(state.unusable_reason());
      return MPI_SUCCESS;
    }
  }
  (void)operation.prepare(choice);
  return MPI_SUCCESS;
}

namespace {

CallResult native(const Call& call, std::string_view reason, Count bytes = 0) {
  return native_outcome(call_native(call), reason, bytes);
}

/// A call that has been native before, with the same arguments. So its arguments are valid.
CallResult again_not_served(const Call& call, const InternedChoice& choice, Unserved unserved, std::string_view reason,
                            Count bytes) {
  if (unserved == Unserved::refuse && choice.kind == InternedChoice::Kind::algorithm) {
    throw Error(ErrorCode::unsupported, std::string(reason));
  }
  return native(call, reason, bytes);
}

CallResult not_served(const Call& call, const InternedChoice& choice, Unserved unserved, std::string_view reason,
                      Count bytes) {
  if (unserved == Unserved::native) return native(call, reason, bytes);
  require_valid(call);
  const ReturnedErrors returned(call.comm);
  return again_not_served(call, choice, unserved, reason, bytes);
}

CallResult erroneous_call(const Call& call, Unserved unserved, std::string_view reason) {
  if (unserved == Unserved::refuse) refuse_arguments(call);
  return native(call, reason);
}

}  // namespace

CallResult outcome_of(const Operation& operation, int error, bool keeps) {
  const std::shared_ptr<BoundPlan>& plan = operation.plan();
  return CallResult{.error = error,
                    .by = keeps ? refer_to(plan->selection()) : keep_served(plan),
                    .reason = operation.why(),
                    .bytes = operation.bytes()};
}

namespace {

/// A call that was served before, on the communicator that keeps its operation, and with it the plan.
CallResult execute_again(Operation& operation) {
  int error = MPI_SUCCESS;
  try {
    error = operation.run();
  } catch (...) {
    operation.fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
  // An error handler may free the communicator.
  return outcome_of(operation, error, error == MPI_SUCCESS);
}

/// A call that has been prepared and can be served.
CallResult execute(Operation& operation, bool timed) {
  double begin_s = 0;
  int error = MPI_SUCCESS;
  try {
    operation.start();
    begin_s = timed ? PMPI_Wtime() : 0;
    error = operation.wait();
  } catch (...) {
    operation.fail(MPI_ERR_INTERN);  // messages may be under way
    throw;
  }
  CallResult outcome = outcome_of(operation, error, false);
  outcome.waited_s = timed ? PMPI_Wtime() - begin_s : 0;
  return outcome;
}

/// A call that was served before, where its buffers may be in device memory now.
CallResult execute_known(Operation& operation, const CommState& state, const Call& call, const InternedChoice& choice,
                         Unserved unserved, bool timed) {
  bool in_device = false;
  if (const int rc = find_device_memory(call, state, &in_device); rc != MPI_SUCCESS) {
    return CallResult{.error = rc, .handled = true};
  }
  if (in_device) return again_not_served(call, choice, unserved, in_device_memory, operation.bytes());
  return timed ? execute(operation, true) : execute_again(operation);
}

/// The same for a blocking call. It may wait for the tags of its communicator, and for the other ranks' answers about
/// device memory.
int prepare_blocking(Operation& operation, CommState& state, const Call& call, const InternedChoice& choice) {
  if (const int rc = find_service(operation, state, choice); rc != MPI_SUCCESS || !operation.served()) return rc;
  if (const int rc = state.open(); rc != MPI_SUCCESS) return rc;
  if (!state.usable()) {
    operation.leave_native(state.unusable_reason());
    return MPI_SUCCESS;
  }
  bool in_device = false;
  const int rc = find_device_memory(call, state, &in_device);
  if (in_device) operation.leave_native(in_device_memory);
  return rc;
}

/// A call that is not known: prepared, and executed or left to the native collective.
CallResult perform_anew(Operation& operation, CommState& state, const Call& call, const InternedChoice& choice,
                        Unserved unserved, bool timed) {
  if (const int rc = prepare_blocking(operation, state, call, choice); rc != MPI_SUCCESS) {
    return CallResult{.error = rc, .handled = true};
  }
  if (operation.served()) return execute(operation, timed);
  remember_native(state, call, choice, operation);
  return operation.erroneous() ? erroneous_call(call, unserved, operation.reason())
                               : not_served(call, choice, unserved, operation.reason(), operation.bytes());
}

/// Prepares a call with arrays once more, on copies of these, so that it is known when it comes again.
void keep_with_arrays(KnownCalls& known, CommState& state, const Call& call, const InternedChoice& choice) {
  try {
    Call kept = call;
    KnownCalls::Arrays arrays{.numbers = keep_arrays(kept, state.rank(), state.size()), .types = {}};
    arrays.types = keep_types(kept, state.size());
    auto operation = std::make_unique<Operation>(kept, state, known.counts);
    if (operation->prepare(choice)) known.keep(std::move(operation), choice, std::move(arrays));
  } catch (...) {
    return;  // this call is over, and the next one is served anew
  }
}

CallResult perform_on(CommState& state, const Call& call, const InternedChoice& choice, Unserved unserved, bool timed) {
  KnownCalls& known = state.attached<KnownCalls>();
  const bool seen = known.has_seen(CallShape(call, state.rank(), state.size()), choice);
  if (!seen || is_irregular(call.collective)) {
    Operation operation(call, state, known.counts);
    CallResult outcome = perform_anew(operation, state, call, choice, unserved, timed);
    if (seen && outcome.error == MPI_SUCCESS && operation.served() && operation.repeatable() &&
        known.wants(operation.shape(), choice))
      keep_with_arrays(known, state, call, choice);
    return outcome;
  }
  auto operation = std::make_unique<Operation>(call, state, known.counts);
  CallResult outcome = perform_anew(*operation, state, call, choice, unserved, timed);
  if (operation->served() && operation->repeatable()) known.keep(std::move(operation), choice, {});
  return outcome;
}

/// An alltoallv that a policy serves, and whose blocks are all equal. Nothing for other calls, and erroneous ones.
std::optional<CallResult> perform_as_alltoall(CommState& state, const Call& call, const InternedChoice& choice,
                                              bool is_valid, bool timed) {
  if (!may_be_regular(call, choice)) return std::nullopt;
  // One rank alone may make an erroneous call, so that it does not count.
  if (!is_valid && CallerBuffers(call, state.rank(), state.size()).erroneous()) return std::nullopt;
  return state.attached<EqualBlocks>().serve(call, choice, state, timed);
}

}  // namespace

FoundCommunicator find_communicator(const Call& call, const InternedChoice& choice, bool has_request) {
  if (choice.kind == InternedChoice::Kind::native) return {.native_reason = "chosen"};
  if (call.comm == MPI_COMM_NULL) return {.native_reason = "erroneous arguments", .erroneous = true};
  FoundCommunicator found;
  found.state = CommState::of_call(call.comm, &found.error);
  if (found.error != MPI_SUCCESS) return found;
  if (found.state == nullptr) {
    return {.native_reason = globals().finalizing ? "MPI_Finalize has begun" : "the communicator is being freed"};
  }
  // A sum with bits of its own is served from the first call on. Of two operands only an exact sum has some.
  const bool own_bits = choice.sums == Sums::exact || (choice.sums == Sums::ordered && found.state->size() > 2);
  const bool at_once = has_request || own_bits;
  if (found.state->still_usable() && !found.state->pays(call.collective, at_once, &found.error)) {
    found.native_reason = "among the first calls on its communicator";
    found.counted = true;
  }
  // The search above may have made the communicator unusable.
  if (!found.state->still_usable()) found.native_reason = found.state->unusable_reason();
  return found;
}

CallResult perform(const Call& call, const InternedChoice& choice, Unserved unserved, bool timed) {
  return perform(call, choice, unserved, timed, CommState::last_used(call.comm));
}

CallResult perform(const Call& call, const InternedChoice& choice, Unserved unserved, bool timed, CommState* state) {
  if (state != nullptr) {
    if (KnownCalls* const calls = state->find_attached<KnownCalls>()) {
      const KnownCall known = calls->find(call, choice, *state);
      if (known.native != nullptr)
        return again_not_served(call, choice, unserved, known.native->reason, known.native->bytes);
      // A call that was served before means what it meant then.
      if (known.served != nullptr && state->still_usable())
        return with_memory(*state, [&] {
          if (auto result = perform_as_alltoall(*state, call, choice, true, timed)) return *std::move(result);
          return execute_known(*known.served, *state, call, choice, unserved, timed);
        });
    }
  }
  const FoundCommunicator found = find_communicator(call, choice);
  if (found.error != MPI_SUCCESS)
    return CallResult{.error = found.error, .handled = true};  // by MPI's functions that failed
  if (found.state == nullptr || !found.native_reason.empty()) {
    if (found.erroneous) return erroneous_call(call, unserved, found.native_reason);
    CallResult outcome = not_served(call, choice, unserved, found.native_reason, 0);
    // After an error the user's handler may have freed the communicator.
    if (found.counted && outcome.error == MPI_SUCCESS) found.state->count_native(call.collective);
    return outcome;
  }
  return with_memory(*found.state, [&] {
    const RewrittenCall rewritten(call, choice, *found.state);
    const KnownCall known = rewritten.known();
    if (known.native != nullptr)
      return again_not_served(rewritten.call(), rewritten.choice(), unserved, known.native->reason,
                              known.native->bytes);
    if (auto result =
            perform_as_alltoall(*found.state, rewritten.call(), rewritten.choice(), known.served != nullptr, timed))
      return *std::move(result);
    if (known.served != nullptr)
      return execute_known(*known.served, *found.state, rewritten.call(), rewritten.choice(), unserved, timed);
    return perform_on(*found.state, rewritten.call(), rewritten.choice(), unserved, timed);
  });
}

int find_device_memory(const Call& call, const CommState& state, bool* found) {
  *found = false;
  if (!state.expects_devices() || !traits_of(call.collective).moves_data) return MPI_SUCCESS;
  int here = has_device_buffer(call, state.rank(), state.size()) ? 1 : 0;
  int anywhere = here;
  if (state.size() > 1) {
    if (const int rc = PMPI_Allreduce(&here, &anywhere, 1, MPI_INT, MPI_MAX, call.comm); rc != MPI_SUCCESS) return rc;
  }
  *found = anywhere != 0;
  return MPI_SUCCESS;
}

std::string_view unanswered(const Call& call, const CommState& state) {
  if (!state.expects_devices() || !traits_of(call.collective).moves_data) return {};
  if (state.size() == 1) return has_device_buffer(call, 0, 1) ? in_device_memory : std::string_view();
  return "ranks cannot agree in a nonblocking call whether its buffers are in device memory";
}

}  // namespace circoll::mpi
