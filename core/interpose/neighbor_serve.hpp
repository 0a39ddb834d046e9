// Serves the entry points of neighbourhood collectives, as serve.hpp those of the others.
#pragma once

#include <mpi.h>

#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::interpose {

/// Serves a call as the environment says, or by `native`. Errors go as in serve(). Throws nothing.
int serve_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, const void* caller) noexcept;
/// Likewise for a nonblocking call, and for one that makes a persistent request.
int start_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
                   const void* caller) noexcept;
int init_neighbor(const mpi::NeighborCall& call, const mpi::NeighborNative& native, MPI_Request* request,
                  const void* caller) noexcept;

}  // namespace circoll::interpose
