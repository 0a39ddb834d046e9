#include "exec/mpi/pending/pending_call.hpp"

#include <atomic>
#include <cstdint>

#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/failures.hpp"
#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::mpi {
namespace {

/// A tag comes again after all others. By then its former operation has long been complete.
int next_tag() {
  static std::atomic<std::uint64_t> next_number{0};
  const auto tags = static_cast<std::uint64_t>(largest_tag() - packing_tags) + 1;
  return packing_tags + static_cast<int>(next_number++ % tags);
}

}  // namespace

void PendingWork::notify_observer() noexcept {
  if (!observed()) return;
  describe(ended_);
  ended_.outcome.error = operation().error();
  ended_.size = state_.size();
  ended_.thread = observer_.thread;
  ended_.recorded = observer_.recorded;
  ended_.ticket = observer_.ticket;
  observer_.on_ended(ended_);
  ended_.outcome.by.reset();
}

int PendingWork::call_errhandler() noexcept {
  const int error = operation().error();
  if (error != MPI_SUCCESS) state_.call_errhandler(error);
  return error;
}

PendingCall::PendingCall(const Call& call, CommState& state, const Observer& observer)
    : PendingWork(state, observer), held_(call, state.rank(), state.size()), operation_(held_.call(), state, counts_) {}

void PendingCall::describe(Ended& ended) noexcept {
  ended.collective = asked_;
  ended.outcome =
      CallResult{.by = keep_served(operation_.plan()), .reason = operation_.why(), .bytes = operation_.bytes()};
}

void PendingNeighbor::describe(Ended& ended) noexcept {
  ended.collective = operation_.function();
  ended.outcome = outcome_of(operation_);
}

CompletionMessage::CompletionMessage(MPI_Comm comm) : comm_(comm), tag_(next_tag()) {}

int CompletionMessage::receive(MPI_Request* request) const {
  return PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag_, comm_, request);
}

int CompletionMessage::init_receive(MPI_Request* request) const {
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag_, comm_, request);
}

void CompletionMessage::withdraw(MPI_Request* request) noexcept {
  PMPI_Cancel(request);
  PMPI_Wait(request, MPI_STATUS_IGNORE);
}

void CompletionMessage::send(int error) const noexcept {
  if (library::is_failure(error) && comm_ != self_communicator()) return library::revoke(comm_);
  const char too_long = 0;
  MPI_Request sent = MPI_REQUEST_NULL;
  PMPI_Isend(&too_long, error == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, tag_, comm_, &sent);
  if (sent != MPI_REQUEST_NULL) PMPI_Request_free(&sent);
}

}  // namespace circoll::mpi
