// The communicators on which everything stands that the program's communicators share.
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

}  // namespace circoll::mpi
