#include "exec/mpi/perform.hpp"

#include "circoll/error.hpp"
#include "exec/mpi/arguments.hpp"
#include "exec/mpi/communicator.hpp"
#include "exec/mpi/concentrated.hpp"
#include "exec/mpi/globals.hpp"
#include "exec/mpi/operation.hpp"
#include "exec/mpi/progress.hpp"
#include "exec/mpi/recent_calls.hpp"

namespace circoll::mpi {

int find_service(Operation& operation, CommState& state, const Interned& choice) {
  if (operation.erroneous()) {
    // The others may have made the call, and sent.
    state.spoil_tags();
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

Outcome native(const Call& call, std::string_view reason, Count bytes = 0) {
  return native_outcome(call_native(call), reason, bytes);
}

/// A call that has been native before, with the same arguments: there can be nothing wrong with them.
Outcome again_not_served(const Call& call, const Interned& choice, Otherwise otherwise, std::string_view reason,
                         Count bytes) {
  if (otherwise == Otherwise::refuse && choice.kind == Interned::Kind::algorithm) {
    throw Error(ErrorCode::unsupported, std::string(reason));
  }
  return native(call, reason, bytes);
}

Outcome not_served(const Call& call, const Interned& choice, Otherwise otherwise, std::string_view reason,
                   Count bytes) {
  if (otherwise == Otherwise::native) return native(call, reason, bytes);
  require_valid(call);
  const ReturnedErrors returned(call.comm);
  return again_not_served(call, choice, otherwise, reason, bytes);
}

Outcome erroneous_call(const Call& call, Otherwise otherwise, std::string_view reason) {
  if (otherwise == Otherwise::refuse) refuse_arguments(call);
  return native(call, reason);
}

/// A call that has been prepared and can be served.
Outcome execute(Operation& operation, bool timed) {
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
  return Outcome{.error = error,
                 .plan = operation.plan(),
                 .reason = operation.plan()->why(),
                 .bytes = operation.bytes(),
                 .waited_s = timed ? PMPI_Wtime() - begin_s : 0};
}

/// The same for a blocking call, which may wait for the tags of its communicator.
int prepare_blocking(Operation& operation, CommState& state, const Interned& choice) {
  if (const int rc = find_service(operation, state, choice); rc != MPI_SUCCESS || !operation.served()) return rc;
  const int rc = state.open();
  if (!state.usable()) operation.leave_native(state.unusable_reason());
  return rc;
}

/// A call that is not known: prepared, and executed or left to the native collective.
Outcome perform_anew(Operation& operation, CommState& state, const Call& call, const Interned& choice,
                     Otherwise otherwise, bool timed) {
  if (const int rc = prepare_blocking(operation, state, choice); rc != MPI_SUCCESS) {
    return Outcome{.error = rc, .handled = true};
  }
  if (operation.served()) return execute(operation, timed);
  remember_native(state, call, choice, operation);
  return operation.erroneous() ? erroneous_call(call, otherwise, operation.reason())
                               : not_served(call, choice, otherwise, operation.reason(), operation.bytes());
}

Outcome perform_on(CommState& state, const Call& call, const Interned& choice, Otherwise otherwise, bool timed) {
  RecentCalls& recent = state.recent();
  if (Operation* const known = recent.find(call, choice)) return execute(*known, timed);
  if (is_irregular(call.collective) || !recent.has_seen(call, choice)) {
    Operation operation(call, state, state.counts());
    return perform_anew(operation, state, call, choice, otherwise, timed);
  }
  auto operation = std::make_unique<Operation>(call, state, state.counts());
  Outcome outcome = perform_anew(*operation, state, call, choice, otherwise, timed);
  if (operation->served() && operation->repeatable()) recent.keep(std::move(operation));
  return outcome;
}

}  // namespace

Communicator find_communicator(const Call& call, const Interned& choice) {
  if (choice.kind == Interned::Kind::native) return {.native_reason = "chosen"};
  if (call.comm == MPI_COMM_NULL) return {.native_reason = "erroneous arguments", .erroneous = true};
  Communicator found;
  found.state = CommState::of(call.comm, &found.error);
  if (found.error != MPI_SUCCESS) return found;
  if (found.state == nullptr) {
    return {.native_reason = globals().finalizing ? "MPI_Finalize has begun" : "the communicator is being freed"};
  }
  if (!found.state->usable()) found.native_reason = found.state->unusable_reason();
  return found;
}

Outcome perform(const Call& call, const Interned& choice, Otherwise otherwise, bool timed) {
  if (const NativeCalls::Known* known = known_native(call, choice)) {
    return again_not_served(call, choice, otherwise, known->reason, known->bytes);
  }
  const Communicator found = find_communicator(call, choice);
  if (found.error != MPI_SUCCESS)
    return Outcome{.error = found.error, .handled = true};  // by MPI's functions that failed
  if (found.state == nullptr || !found.native_reason.empty()) {
    return found.erroneous ? erroneous_call(call, otherwise, found.native_reason)
                           : not_served(call, choice, otherwise, found.native_reason, 0);
  }
  return serve_as_meant(
      call, choice, *found.state,
      [&](const Call& meant, const Interned& by) {
        return with_memory(*found.state, [&] { return perform_on(*found.state, meant, by, otherwise, timed); });
      },
      [&](const Call& meant, const NativeCalls::Known& known) {
        return again_not_served(meant, choice, otherwise, known.reason, known.bytes);
      });
}

}  // namespace circoll::mpi
