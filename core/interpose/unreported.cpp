// The last word on a report or trace that was asked for and is not written when the process ends.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

#include "facts/environment.hpp"
#include "interpose/launch.hpp"
#include "interpose/setup.hpp"
#include "interpose/state.hpp"

namespace circoll::interpose {
namespace {

/// Of the process that loaded the drop-in; one that it forks does not load it again, and is no rank.
const pid_t loaded_in = getpid();

/// Why there is none; nullptr if there is nothing to say. Other programs than ranks of MPI say nothing.
const char* reason() {
  if (getpid() != loaded_in) return nullptr;
  if (const State* const state = State::known()) {
    return state->speaks_of_reports() ? "the program ended without MPI_Finalize" : nullptr;
  }
  if (State::sessions_have_ended()) return nullptr;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  const bool wanted = report_setting() != "0" || environment("CIRCOLL_TRACE");
  return initialized != 0 && wanted && launch_rank() == 0 ? "MPI_Init was called past the drop-in" : nullptr;
}

/// Called when the process exits, before the libraries end that the drop-in needs.
__attribute__((destructor)) void warn_unreported() {
  try {
    if (const char* const why = reason()) std::fprintf(stderr, "circoll: nothing is reported: %s\n", why);
  } catch (...) {
    return;
  }
}

}  // namespace
}  // namespace circoll::interpose
