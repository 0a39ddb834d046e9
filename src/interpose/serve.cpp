#include "interpose/serve.hpp"

#include <mpi.h>

#include "exec/mpi/perform.hpp"
#include "interpose/state.hpp"

namespace circoll::interpose {

namespace {

void record(State& state, const mpi::Call& call, const mpi::Outcome& outcome, double begin_s) {
  const double end_s = PMPI_Wtime();
  int ranks = 0;
  // The communicator of a call that failed may be none.
  if (outcome.error == MPI_SUCCESS) PMPI_Comm_size(call.comm, &ranks);
  state.record({.collective = call.collective,
                .ranks = ranks,
                .served = outcome.served,
                .reason = outcome.reason,
                .bytes = outcome.bytes,
                .begin_s = begin_s,
                .end_s = end_s,
                .inside_s = end_s - begin_s});
}

}  // namespace

int serve(const mpi::Call& call) noexcept {
  int error = MPI_ERR_INTERN;
  try {
    State* const state = State::get();
    if (state == nullptr) return mpi::call_native(call);
    const double begin = state->recording() ? PMPI_Wtime() : 0;
    const mpi::Outcome outcome = mpi::perform(call, state->choice(call.collective));
    if (state->recording()) record(*state, call, outcome, begin);
    if (outcome.error == MPI_SUCCESS || outcome.handled) return outcome.error;
    error = outcome.error;
  } catch (...) {
    error = MPI_ERR_INTERN;  // out of memory, or a broken invariant
  }
  PMPI_Comm_call_errhandler(call.comm, error);
  return error;
}

}  // namespace circoll::interpose
