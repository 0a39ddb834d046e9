#include "interpose/progress.hpp"

#include <mpi.h>
#include <sched.h>

#include "exec/mpi/library/library.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "facts/environment.hpp"
#include "interpose/serving.hpp"

namespace circoll::interpose {
namespace {

/// The engine in this process; nullptr if it is none that we know. A drop-in has those that it may meet.
const ProgressEngine* engine() {
  if constexpr (mpi::library::identity == &openmpi_library) {
    return &openmpi_progress;
  } else if constexpr (mpi::library::identity == &mpich_library) {
    return &mpich_progress;
  } else {
    const MpiLibrary* const library = mpi::library::implementation();
    if (library == nullptr) return nullptr;
    return library == &openmpi_library ? &openmpi_progress : &mpich_progress;
  }
}

void run() {
  mpi::Progress& progress = mpi::progress();
  const ProgressEngine* const known = engine();
  while (progress.await_pending()) {
    if (Serving* const wrapper = Serving::first()) wrapper->poll();
    if (progress.poll() > 0) {
      if (known != nullptr) known->announce_ended();
    } else {
      sched_yield();
    }
  }
}

}  // namespace

ProgressKind progress_kind() {
  const std::string value = environment("CIRCOLL_PROGRESS").value_or("hook");
  if (value == "hook") return ProgressKind::hook;
  if (value == "thread") return ProgressKind::thread;
  return value == "off" ? ProgressKind::off : ProgressKind::unknown;
}

ProgressSource::ProgressSource() {
  ProgressKind kind = progress_kind();
  if (kind == ProgressKind::off) {
    unavailable_ = "CIRCOLL_PROGRESS=off";
    return;
  }
  if (kind == ProgressKind::unknown) {
    warning_ = "CIRCOLL_PROGRESS is none of hook, thread, off; hook is used";
    kind = ProgressKind::hook;
  }
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  const bool multiple = level == MPI_THREAD_MULTIPLE;
  const ProgressEngine* const known = engine();
  const Hook hook = known == nullptr ? Hook::unknown : known->install(multiple);
  if (hook == Hook::unknown) unavailable_ = "this MPI library's progress engine is not known";
  if (kind == ProgressKind::hook && hook != Hook::needs_thread) return;
  if (!multiple) {
    warning_ =
        "CIRCOLL_PROGRESS=thread: MPI was not initialised with MPI_THREAD_MULTIPLE, so there is no progress thread";
    return;
  }
  unavailable_ = {};
  mpi::progress().set_listening(true);
  thread_ = std::thread(run);
}

void ProgressSource::stop() {
  if (const ProgressEngine* const known = engine()) known->remove();
  if (!thread_.joinable()) return;
  mpi::progress().set_listening(false);
  thread_.join();
}

}  // namespace circoll::interpose
