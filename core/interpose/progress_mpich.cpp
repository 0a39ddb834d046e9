// MPICH from 4.3 on: every pass of its progress engine, whatever the device, calls what MPIX_Async_start was given.
// MPICH over UCX before that (ch4:ucx, as Debian builds it): every pass calls ucp_worker_progress of libucp, in front
// of which the drop-in stands. Other devices had no such function; nonblocking calls are the library's own there. So it
// is over the standard ABI, for which MPICH 5 has no MPIX_Async_start.
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <string_view>

#include "exec/mpi/comm/stalls.hpp"
#include "exec/mpi/library/base.hpp"
#include "exec/mpi/library/library.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "interpose/census.hpp"
#include "interpose/progress.hpp"
#include "interpose/serve.hpp"
#include "interpose/serving.hpp"

namespace {

/// Set once, in install_in_mpich().
std::atomic<bool> hooked{false};

/// Lets a request go. Only then a waiting call of MPICH looks again for the message that it waits for. The request must
/// not be a receive from MPI_PROC_NULL: under MPICH 4.0.2, a program that frees such a persistent request may wait
/// forever for a later native persistent collective, with and without the drop-in (tests/mpi/matrix).
void announce_to_mpich() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, circoll::mpi::base_self(), &request) == MPI_SUCCESS) {
    PMPI_Request_free(&request);
  }
}

void advance() {
  if (circoll::interpose::Serving* const wrapper = circoll::interpose::Serving::first()) wrapper->poll();
  circoll::mpi::stalls().glance();
  if (circoll::mpi::progress().poll() > 0) announce_to_mpich();
}

// MPIX_Async_start is looked up, since libraries of one binary interface take each other's place: the headers here may
// be older than the library. These are its constants and types.
constexpr int async_no_progress = 0;
constexpr int async_done = 1;
constexpr int stream_null = 0x3c000000;
using AsyncPoll = int(void* thing);
using AsyncStart = int(AsyncPoll* poll, void* extra_state, int stream);

/// The state of poll_async. MPI_Finalize waits until it is none of what the library polls.
enum class Async { none, polled, ending };
std::atomic<Async> async{Async::none};

int poll_async(void* /*thing*/) {
  static std::atomic<bool> inside{false};
  // Our calls of MPI poll again. The library frees what is done, which the outer pass still looks at.
  if (inside.exchange(true)) return async_no_progress;
  const bool ending = async == Async::ending;
  if (!ending) advance();
  inside = false;
  if (ending) async = Async::none;
  return ending ? async_done : async_no_progress;
}

}  // namespace

extern "C" {

using WorkerProgress = unsigned(void* worker);

CIRCOLL_EXPORT unsigned ucp_worker_progress(void* worker) {
  static std::atomic<WorkerProgress*> next{nullptr};
  WorkerProgress* real = next.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<WorkerProgress*>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
    if (real == nullptr) {  // a plugin of the MPI library has brought libucp, which is not in the global scope then
      if (void* const ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD); ucp != nullptr) {
        real = reinterpret_cast<WorkerProgress*>(dlsym(ucp, "ucp_worker_progress"));
      }
    }
    if (real == nullptr) return 0;  // cannot be: who calls it is linked to libucp
    next.store(real, std::memory_order_relaxed);
  }
  const unsigned events = real(worker);
  if (hooked.load(std::memory_order_relaxed)) advance();
  return events;
}

}  // extern "C"

namespace circoll::interpose {

namespace {

bool is_over_ucx() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  return std::string_view(version.data()).find("ch4:ucx") != std::string_view::npos &&
         dlsym(RTLD_DEFAULT, "ucp_worker_progress") == reinterpret_cast<void*>(&ucp_worker_progress);
}

/// MPI calls this where MPI_Finalize begins, even if the program has called MPI_Finalize past the drop-in.
int end_async(MPI_Comm /*comm*/, int /*keyval*/, void* /*value*/, void* /*extra*/) {
  if (async == Async::polled) async = Async::ending;
  return MPI_SUCCESS;
}

Hook start_async(AsyncStart* start) {
  int keyval = MPI_KEYVAL_INVALID;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_async, &keyval, nullptr) != MPI_SUCCESS ||
      PMPI_Comm_set_attr(mpi::base_self(), keyval, nullptr) != MPI_SUCCESS) {
    return Hook::unknown;
  }
  async = Async::polled;
  if (start(poll_async, nullptr, stream_null) == MPI_SUCCESS) return Hook::installed;
  async = Async::none;
  return Hook::unknown;
}

/// MPIX_Async_start, if the library has it. It takes a handle, so that only the one of MPICH's own interface is known.
AsyncStart* find_async_start() {
  if (mpi::library::identity != &mpich_library) return nullptr;
  return reinterpret_cast<AsyncStart*>(dlsym(RTLD_DEFAULT, "PMPIX_Async_start"));
}

Hook install_in_mpich(bool multiple) {
  AsyncStart* const start = find_async_start();
  if (start == nullptr && !is_over_ucx()) return Hook::unknown;
  // The engine holds locks when it polls, if there are threads.
  if (multiple) return Hook::needs_thread;
  if (start != nullptr) {
    // A tool that calls PMPI_Init goes past the drop-in in MPI_Finalize, too. That of MPICH 5.0.2 waits for all that it
    // polls before it deletes attributes, and nothing tells us that it has begun.
    return announced() ? start_async(start) : Hook::unknown;
  }
  hooked = true;
  return Hook::installed;
}

void remove_from_mpich() {
  if (async != Async::polled) return;
  async = Async::ending;
  // Each probe is a pass of the engine, unless it finds a message. MPI_Finalize waits for the rest.
  for (int pass = 0, flag = 0; pass < 100 && async == Async::ending; ++pass) {
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mpi::base_self(), &flag, MPI_STATUS_IGNORE);
  }
}

}  // namespace

const ProgressEngine mpich_progress{install_in_mpich, remove_from_mpich, announce_to_mpich};

}  // namespace circoll::interpose
