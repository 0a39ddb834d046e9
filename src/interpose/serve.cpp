#include "interpose/serve.hpp"

#include <mpi.h>

#include "exec/mpi/perform.hpp"
#include "interpose/state.hpp"

namespace circoll::interpose {

int serve(const mpi::Call& call) noexcept {
  int error = MPI_ERR_INTERN;
  try {
    State* const state = State::get();
    if (state == nullptr) return mpi::call_native(call);
    const double begin = state->reporting() ? PMPI_Wtime() : 0;
    const mpi::Outcome outcome = mpi::perform(call, state->choice(call.collective));
    if (state->reporting()) state->count(call.collective, outcome, PMPI_Wtime() - begin);
    if (outcome.error == MPI_SUCCESS || outcome.handled) return outcome.error;
    error = outcome.error;
  } catch (...) {
    error = MPI_ERR_INTERN;  // out of memory, or a broken invariant
  }
  PMPI_Comm_call_errhandler(call.comm, error);
  return error;
}

}  // namespace circoll::interpose
