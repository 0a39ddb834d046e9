#include "exec/mpi/pending/neighbor_requests.hpp"

#include <memory>
#include <utility>

#include "circoll/error.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/pending/pending_call.hpp"
#include "exec/mpi/pending/progress.hpp"

namespace circoll::mpi {
namespace {

using NonblockingNeighbor = Nonblocking<PendingNeighbor>;

NeighborResult start_on(CommState& state, const NeighborCall& call, NeighborSides sides, MPI_Request* request,
                        const Observer& observer) {
  const Schedule& schedule = state.attached<NeighborState>().schedule(contract_of(call.function));
  auto pending = std::make_unique<NonblockingNeighbor>(call, state, schedule, std::move(sides), observer);
  NeighborOperation& operation = pending->operation();
  if (const int rc = state.begin_open(); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
  if (const int rc = operation.hold_types(); rc != MPI_SUCCESS) {
    state.missed_call();  // the others may have sent
    return {.error = rc, .handled = true};
  }
  if (const int rc = pending->make_request(request); rc != MPI_SUCCESS) return {.error = rc};
  operation.take_numbers();
  const NeighborResult result{.served = true, .reason = why_neighbor_direct, .bytes = operation.bytes()};
  NonblockingNeighbor::add(std::move(pending), request);
  return result;
}

}  // namespace

NeighborResult start(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                     MPI_Request* request, const Observer& observer) {
  FoundNeighbors found = find_neighbors(call, choice);
  if (found.error != MPI_SUCCESS) return {.error = found.error, .handled = true};
  if (!found.native_reason.empty()) return left_to_library(native, found.native_reason);
  CommState& state = *found.state;
  if (state.has_carrier() && !why_not_ready(state).empty()) return left_to_library(native, why_not_ready(state));
  if (!state.serves_nonblocking()) {
    return left_to_library(native, "its communicator has no tags yet, and the call must not wait for the other ranks");
  }
  CommState::bury_released();
  if (self_communicator() == MPI_COMM_NULL)
    throw Error(ErrorCode::transport, "MPI could not make a private communicator");
  return with_memory(state, [&] { return start_on(state, call, *std::move(found.sides), request, observer); });
}

}  // namespace circoll::mpi
