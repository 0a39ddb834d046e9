// Common parts of all entry points of the drop-in: the path of a call, and the functions that come next.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "exec/mpi/call/call.hpp"

#define CIRCOLL_EXPORT __attribute__((visibility("default")))
/// The place that an entry point has been called from.
#define CIRCOLL_CALLER __builtin_return_address(0)

namespace circoll::mpi {
struct NeighborCall;
class NeighborNative;
struct Observer;
}  // namespace circoll::mpi

namespace circoll::interpose {

class State;

/// The observer of operations behind requests, which hears nothing if nobody wants events. `recorded`: the number of
/// the call in the record, or 0.
[[nodiscard]] mpi::Observer observer(const State& state, std::uint64_t recorded = 0);

/// Serves a call as the environment says. An error goes through the communicator's error handler, unless the native
/// collective has done that. Returns the MPI error code; throws nothing. `caller` is the entry point's return address.
int serve(const mpi::Call& call, const void* caller) noexcept;
/// Likewise for a nonblocking call, and for one that makes a persistent request.
int start(const mpi::Call& call, MPI_Request* request, const void* caller) noexcept;
int init(const mpi::Call& call, MPI_Info info, MPI_Request* request, const void* caller) noexcept;
/// The same for collectives among neighbours.
int serve(const mpi::NeighborCall& call, const mpi::NeighborNative& native, const void* caller) noexcept;
int start(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
          const void* caller) noexcept;
int init(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
         const void* caller) noexcept;
/// MPI_Start of a request that init() has made; false if it is none of those.
bool start_ours(MPI_Request request, int* error) noexcept;
/// The time, if starts of persistent requests are kept to be played again (CallTracer); 0 otherwise.
[[nodiscard]] double start_begins() noexcept;
/// Keeps a start that has succeeded.
void keep_start(MPI_Request request, double begin_s) noexcept;
/// The program frees a request.
void forget_request(MPI_Request request) noexcept;

/// The next library that defines a function which the drop-in only looks at. It is the MPI library, or a tool of the
/// profiling interface in between, which would miss a call that went to the PMPI_ function. `own` is the function by
/// its PMPI_ name, for where there is no next one.
template <typename Function>
Function* next_function(const char* name, Function* own) {
  auto* const next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  return next != nullptr ? next : own;
}

}  // namespace circoll::interpose

/// MPI_<name> of the next library, looked up once.
#define CIRCOLL_NEXT(name)                                                                   \
  ([] {                                                                                      \
    static auto* const next = circoll::interpose::next_function("MPI_" #name, &PMPI_##name); \
    return next;                                                                             \
  }())
