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

CallResult start_on(CommState& state, const NeighborCall& call, NeighborState& kept, MPI_Request* request,
                    const Observer& observer) {
  CommState::bury_released();
  if (self_communicator() == MPI_COMM_NULL)
    throw Error(ErrorCode::transport, "MPI could not make a private communicator");
  const NeighborWay way = kept.direct(contract_of(call.function));
  auto pending = std::make_unique<NonblockingNeighbor>(call, state, way, kept.sides(), observer);
  NeighborOperation& operation = pending->operation();
  if (const int rc = prepare_to_start(state, operation); rc != MPI_SUCCESS) return {.error = rc, .handled = true};
  if (const int rc = pending->make_request(request); rc != MPI_SUCCESS) return {.error = rc};
  operation.take_numbers();
  CallResult result = outcome_of(operation);
  NonblockingNeighbor::add(std::move(pending), request);
  return result;
}

}  // namespace

std::string_view why_not_started(CommState& state) {
  if (state.has_carrier() && !why_not_ready(state).empty()) return why_not_ready(state);
  if (state.serves_nonblocking()) return {};
  return "its communicator has no tags yet, and the call must not wait for the other ranks";
}

int prepare_to_start(CommState& state, NeighborOperation& operation) {
  if (const int rc = state.begin_open(); rc != MPI_SUCCESS) return rc;
  const int rc = operation.hold_types();
  if (rc != MPI_SUCCESS) state.missed_call();  // the others may have sent
  return rc;
}

CallResult start(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                 MPI_Request* request, const Observer& observer) {
  return serve_among_neighbors(call, choice, native, [&](CommState& state, NeighborState& kept) {
    const std::string_view why = why_not_started(state);
    if (!why.empty()) return native_outcome(native(why), why);
    return start_on(state, call, kept, request, observer);
  });
}

}  // namespace circoll::mpi
