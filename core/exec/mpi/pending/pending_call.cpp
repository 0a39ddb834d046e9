#include "exec/mpi/pending/pending_call.hpp"

namespace circoll::mpi {

PendingCall::PendingCall(const Call& call, CommState& state, const Observer& observer)
    : held_(call, state.rank(), state.size()),
      state_(state),
      operation_(held_.call(), state, counts_),
      observer_(observer) {
  entered();
}

void PendingCall::notify_observer() noexcept {
  if (!observed()) return;
  ended_.outcome = Outcome{.error = operation_.error(),
                           .plan = operation_.plan(),
                           .reason = operation_.plan()->why(),
                           .bytes = operation_.bytes()};
  ended_.size = state_.size();
  ended_.thread = observer_.thread;
  observer_.on_ended(ended_);
  ended_.outcome.plan.reset();
}

int PendingCall::call_errhandler() noexcept {
  const int error = operation_.error();
  if (error != MPI_SUCCESS) state_.call_errhandler(error);
  return error;
}

}  // namespace circoll::mpi
