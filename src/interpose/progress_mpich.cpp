// MPICH over UCX (ch4:ucx, as Debian builds it): every pass of its progress engine calls ucp_worker_progress of libucp, in
// front of which the drop-in stands. Other devices have no such function; nonblocking calls are the library's own there.
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <string_view>

#include "exec/mpi/pending/progress.hpp"
#include "interpose/check.hpp"
#include "interpose/progress.hpp"
#include "interpose/serve.hpp"

namespace {

/// Set once, in install_progress_hook().
std::atomic<bool> hooked{false};

}  // namespace

extern "C" {

using WorkerProgress = unsigned(void* worker);

CIRCOLL_EXPORT unsigned ucp_worker_progress(void* worker) {
  static std::atomic<WorkerProgress*> next{nullptr};
  WorkerProgress* real = next.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<WorkerProgress*>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
    if (real == nullptr) return 0;  // cannot be: libmpich needs libucp
    next.store(real, std::memory_order_relaxed);
  }
  const unsigned events = real(worker);
  if (hooked.load(std::memory_order_relaxed)) {
    if (circoll::interpose::Check* const check = circoll::interpose::Check::on()) check->poll();
    if (circoll::mpi::progress().poll() > 0) circoll::interpose::announce_ended();
  }
  return events;
}

}  // extern "C"

namespace circoll::interpose {

Hook install_progress_hook(bool multiple) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  const bool over_ucx = std::string_view(version.data()).find("ch4:ucx") != std::string_view::npos;
  if (!over_ucx || dlsym(RTLD_DEFAULT, "ucp_worker_progress") != reinterpret_cast<void*>(&ucp_worker_progress)) {
    return Hook::unknown;
  }
  hooked = !multiple;
  return multiple ? Hook::needs_thread : Hook::installed;
}

/// A waiting call of MPICH looks again whether it has what it waits for when a request has gone, and only then.
/// Not a receive from MPI_PROC_NULL: under MPICH 4.0.2, whoever frees such a persistent request may wait forever for a later
/// native persistent collective (with and without the drop-in; tests/mpi/matrix).
void announce_ended() {
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request) == MPI_SUCCESS) {
    PMPI_Request_free(&request);
  }
}

}  // namespace circoll::interpose
