// Common path of a call from all entry points of the drop-in.
#pragma once

#include "exec/mpi/call/call.hpp"

#define CIRCOLL_EXPORT __attribute__((visibility("default")))
/// The place that an entry point has been called from.
#define CIRCOLL_CALLER __builtin_return_address(0)

namespace circoll::interpose {

/// Serves a call as the environment says. An error goes through the communicator's error handler, unless the native
/// collective has done that. Returns the MPI error code; throws nothing. `caller` is the entry point's return address.
int serve(const mpi::Call& call, const void* caller) noexcept;
/// Likewise for a nonblocking call, and for one that makes a persistent request.
int start(const mpi::Call& call, MPI_Request* request, const void* caller) noexcept;
int init(const mpi::Call& call, MPI_Info info, MPI_Request* request, const void* caller) noexcept;
/// MPI_Start of a request that init() has made; false if it is none of those.
bool start_ours(MPI_Request request, int* error) noexcept;

}  // namespace circoll::interpose
