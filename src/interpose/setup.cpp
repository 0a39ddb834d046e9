// Begin and end of MPI. The begin is intercepted to warn about the environment at once, to compare it among the ranks, and
// to ask for the thread level that a progress thread needs; the end to stop that thread.
#include <mpi.h>

#include <algorithm>

#include "interpose/next.hpp"
#include "interpose/progress.hpp"
#include "interpose/right_mpi.hpp"
#include "interpose/serve.hpp"
#include "interpose/state.hpp"

using circoll::interpose::State;
using circoll::interpose::stop_if_wrong;

namespace {

bool wants_thread() noexcept {
  try {
    return circoll::interpose::progress_kind() == circoll::interpose::ProgressKind::thread;
  } catch (...) {
    return false;
  }
}

int begin(int error) noexcept {
  if (error != MPI_SUCCESS) return error;
  try {
    if (State* const state = State::get()) state->agree_once();
    MPI_Comm world = MPI_COMM_WORLD;
    (void)circoll::interpose::made(MPI_SUCCESS, &world);
  } catch (...) {
    return error;  // calls are native then, or fail by themselves
  }
  return error;
}

}  // namespace

extern "C" {

CIRCOLL_EXPORT int MPI_Init(int* argc, char*** argv) {
  stop_if_wrong(__builtin_return_address(0));
  int provided = MPI_THREAD_SINGLE;
  return begin(wants_thread() ? CIRCOLL_NEXT(Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                              : CIRCOLL_NEXT(Init)(argc, argv));
}

CIRCOLL_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  stop_if_wrong(__builtin_return_address(0));
  return begin(CIRCOLL_NEXT(Init_thread)(
      argc, argv, wants_thread() ? std::max(required, int{MPI_THREAD_MULTIPLE}) : required, provided));
}

CIRCOLL_EXPORT int MPI_Finalize() {
  if (State* const state = State::known()) state->progress().stop();
  return CIRCOLL_NEXT(Finalize)();
}

}  // extern "C"
