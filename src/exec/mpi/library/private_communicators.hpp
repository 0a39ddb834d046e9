// Communicators that only Circoll knows, and the tags of the MPI library.
#pragma once

#include <mpi.h>

namespace circoll::mpi {

/// The attribute MPI_TAG_UB, asked for once.
[[nodiscard]] int largest_tag();

/// A communicator of the same ranks, without attributes and topology, which returns errors: MPI_Comm_dup would run the
/// program's copy callbacks. Collective. Returns an MPI error code, for which no error handler has been called.
[[nodiscard]] int private_duplicate(MPI_Comm comm, MPI_Comm* made);

/// A private duplicate of MPI_COMM_SELF: for packing, for messages that complete requests, and for questions that MPI
/// may refuse. MPI_COMM_NULL if there is none to be had. Thread-safe.
[[nodiscard]] MPI_Comm self_communicator();
/// Frees it, at MPI_Finalize.
void free_self_communicator() noexcept;

/// The tags on it are divided: packing has those below, messages that complete requests the others.
inline constexpr int packing_tags = 1 << 14;

}  // namespace circoll::mpi
