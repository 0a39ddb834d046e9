#include "exec/mpi/pending/owned_call.hpp"

#include <sched.h>

#include <string>

#include "circoll/error.hpp"
#include "exec/mpi/call/call.hpp"
#include "exec/mpi/serve/known_calls.hpp"
#include "exec/mpi/serve/perform.hpp"

namespace circoll::mpi {
namespace {

enum class Kind { nonblocking, persistent };

void throw_error(int error) {
  if (error != MPI_SUCCESS) throw MpiError(error);
}

/// The library's own call, unless an algorithm was asked for by name or the arguments are wrong.
Service native(const Call& call, const InternedChoice& choice, Kind kind, std::string_view reason) {
  require_valid(call);
  if (choice.kind == InternedChoice::Kind::algorithm) throw Error(ErrorCode::unsupported, std::string(reason));
  const ReturnedErrors returned(call.comm);
  Service service;
  throw_error(kind == Kind::persistent ? init_native(call, MPI_INFO_NULL, &service.native)
                                       : start_native(call, &service.native));
  return service;
}

Service serve_on(CommState& state, const Call& call, const InternedChoice& choice, Kind kind) {
  Service service{.owned = std::make_unique<OwnedCall>(call, state)};
  Operation& operation = service.owned->operation();
  if (kind == Kind::persistent) {
    throw_error(find_service(operation, state, choice));
  } else {
    if (operation.erroneous()) state.missed_call();
    (void)operation.prepare(choice);
  }
  if (operation.erroneous()) refuse_arguments(call);
  if (!operation.served()) return native(call, choice, kind, operation.reason());
  if (kind == Kind::persistent) {
    bool in_device = false;
    throw_error(find_device_memory(call, state, &in_device));
    if (in_device) return native(call, choice, kind, in_device_memory);
    return operation.reserve_tags() ? std::move(service) : native(call, choice, kind, "too many persistent requests");
  }
  throw_error(state.begin_open());
  operation.take_numbers();
  service.owned->start();
  return service;
}

Service serve(const Call& call, const InternedChoice& choice, Kind kind) {
  const FoundCommunicator found = find_communicator(call, choice, true);
  throw_error(found.error);
  if (!found.native_reason.empty()) return native(call, choice, kind, found.native_reason);
  if (kind == Kind::nonblocking && !found.state->serves_nonblocking()) {
    return native(call, choice, kind,
                  "its communicator has no tags yet, and the call must not wait for the other ranks");
  }
  if (kind == Kind::nonblocking) {
    if (const std::string_view why = unanswered(call, *found.state); !why.empty())
      return native(call, choice, kind, why);
  }
  CommState::bury_released();
  const RewrittenCall rewritten(call, choice, *found.state);
  return serve_on(*found.state, rewritten.call(), rewritten.choice(), kind);
}

}  // namespace

void execute_owned(const Call& call, const InternedChoice& choice) {
  finish_owned_calls(call.comm);
  throw_error(perform(call, choice, Unserved::refuse).error);
}

Service begin_owned(const Call& call, const InternedChoice& choice) { return serve(call, choice, Kind::nonblocking); }

Service init_owned(const Call& call, const InternedChoice& choice) {
  finish_owned_calls(call.comm);  // it waits for the other ranks, as a blocking call
  return serve(call, choice, Kind::persistent);
}

void finish_owned_calls_on(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  int error = MPI_SUCCESS;
  const CommState* const state = CommState::of(comm, &error);
  if (state == nullptr) return;
  while (progress().has(*state)) {
    if (progress().poll() == 0) sched_yield();
  }
}

}  // namespace circoll::mpi
