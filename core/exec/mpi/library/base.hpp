// The communicators on which everything stands that the program's communicators share. With them are those that only
// Circoll knows, and the tags of the MPI library.
#pragma once

#include <mpi.h>

namespace circoll::mpi {

/// All processes, and this one alone: MPI_COMM_WORLD and MPI_COMM_SELF. Those are none in a program of sessions only,
/// for which the drop-in makes others (interpose/sessions.cpp).
[[nodiscard]] MPI_Comm base_world();
[[nodiscard]] MPI_Comm base_self();
/// True if the drop-in has made them.
[[nodiscard]] bool base_is_made();

/// Takes others, when nothing stands on the ones of before, or those of MPI_Init again.
void set_base(MPI_Comm world, MPI_Comm self);
void reset_base();

/// The attribute MPI_TAG_UB, asked for once.
[[nodiscard]] int largest_tag();

/// True if MPI itself gives the processor to others whenever it has no news (Open MPI's mpi_yield_when_idle). After
/// MPI_Init.
[[nodiscard]] bool yields_while_idle();

/// The treatment of the handler of MPI_COMM_WORLD or MPI_COMM_SELF if the program seems not to have set one, where
/// `library::knows_unset_handlers`. If it stays unset, a failure ends the job. If it may be set, errors of other
/// communicators may go elsewhere from then on: for MPI_Finalize.
enum class UnsetHandlers { stay, may_be_set };

/// A communicator of the same ranks, without attributes and topology, which returns errors: MPI_Comm_dup would run the
/// program's copy callbacks. Collective. Returns an MPI error code, for which no error handler has been called. The
/// drop-in makes those of MPI_COMM_WORLD and MPI_COMM_SELF in MPI_Init, where communicators are plenty.
[[nodiscard]] int private_duplicate(MPI_Comm comm, MPI_Comm* made, UnsetHandlers handlers = UnsetHandlers::stay);

/// A private duplicate of MPI_COMM_SELF: for packing, for messages that complete requests, and for questions that MPI
/// may refuse. MPI_COMM_NULL if MPI could not make one. Thread-safe.
[[nodiscard]] MPI_Comm self_communicator();
/// Frees it, at MPI_Finalize.
void free_self_communicator() noexcept;

/// The tags on it are divided: packing has those below, messages that complete requests the others.
inline constexpr int packing_tags = 1 << 14;

}  // namespace circoll::mpi
