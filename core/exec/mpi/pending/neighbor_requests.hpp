// Nonblocking and persistent neighbourhood collectives, as nonblocking.hpp has the other collectives.
#pragma once

#include <mpi.h>

#include "exec/mpi/pending/nonblocking.hpp"
#include "exec/mpi/serve/neighbor_perform.hpp"

namespace circoll::mpi {

/// Why a call that must not wait for the other ranks is native; empty: it need not be.
[[nodiscard]] std::string_view why_not_started(CommState& state);
/// The first part of a nonblocking operation, after which it takes its numbers. Returns an MPI error code, for which
/// MPI has called the error handler.
[[nodiscard]] int prepare_to_start(CommState& state, NeighborOperation& operation);

/// Starts a call. `native` starts the library's own, with the same request. Throws as perform().
[[nodiscard]] CallResult start(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                               MPI_Request* request, const Observer& observer);

/// Makes a persistent request, or has `native` make it.
[[nodiscard]] CallResult init(const NeighborCall& call, const InternedChoice& choice, const NeighborNative& native,
                              MPI_Request* request, const Observer& observer);

}  // namespace circoll::mpi
