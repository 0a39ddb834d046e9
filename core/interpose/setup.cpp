// Begin and end of MPI. At the begin the drop-in
//   - counts the ranks that run with it,
//   - warns about the environment at once, and compares it among the ranks,
//   - makes the objects that all communicators share,
//   - looks for runtimes of devices,
//   - and asks for the thread level that a progress thread needs.
// At the end it stops that thread.
#include <mpi.h>

#include <algorithm>

#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/library/base.hpp"
#include "interpose/census.hpp"
#include "interpose/progress.hpp"
#include "interpose/serve.hpp"
#include "interpose/serving.hpp"
#include "interpose/setup.hpp"
#include "interpose/state.hpp"

namespace {

using circoll::interpose::Recorder;
using circoll::interpose::Serving;
using circoll::interpose::State;
using circoll::interpose::stop_if_wrong;

bool wants_thread() noexcept {
  try {
    return circoll::interpose::progress_kind() == circoll::interpose::ProgressKind::thread;
  } catch (...) {
    return false;
  }
}

int begin(int error) noexcept {
  if (error != MPI_SUCCESS) return error;
  // Sessions may have begun already.
  if (circoll::mpi::base_is_made()) return error;
  try {
    State* const state = State::get();
    if (state == nullptr) return error;
    state->begin();
    const Serving* const wrapper = Serving::first();
    if (wrapper == nullptr || !wrapper->ends_waiting()) circoll::mpi::stalls().open(circoll::interpose::say_stalled);
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
  circoll::interpose::announce();
  return begin(wants_thread() ? CIRCOLL_NEXT(Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided)
                              : CIRCOLL_NEXT(Init)(argc, argv));
}

CIRCOLL_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  stop_if_wrong(__builtin_return_address(0));
  circoll::interpose::announce();
  return begin(CIRCOLL_NEXT(Init_thread)(
      argc, argv, wants_thread() ? std::max(required, int{MPI_THREAD_MULTIPLE}) : required, provided));
}

CIRCOLL_EXPORT int MPI_Finalize() {
  if (circoll::mpi::base_is_made()) {
    circoll::interpose::end_sessions_if(0);
    return CIRCOLL_NEXT(Finalize)();
  }
  State* const state = State::known();
  Recorder* const recorder = state == nullptr ? nullptr : state->recorder();
  if (recorder != nullptr) recorder->finalizing();
  Serving* const wrapper = Serving::first();
  if (wrapper != nullptr) wrapper->finish(CIRCOLL_CALLER);
  if (state != nullptr) state->progress().stop();
  constexpr auto finalize = [] { return CIRCOLL_NEXT(Finalize)(); };
  const int error = wrapper == nullptr ? finalize() : wrapper->finalize(finalize);
  if (recorder != nullptr) recorder->finalized();
  return error;
}

}  // extern "C"
