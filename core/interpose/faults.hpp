// Failures of ranks, as the drop-in treats them (CIRCOLL_FAULTS): begin, end, and the functions for programs.
#pragma once

#include <optional>
#include <string>

#include "exec/mpi/guard/guard.hpp"

namespace circoll::interpose {

/// The wish of CIRCOLL_FAULTS; nothing if it is off. A value that is not understood is off, as `warning` says.
[[nodiscard]] std::optional<mpi::FaultMode> wanted_faults(std::string* warning);

/// Begins to guard calls, if that is wanted. Collective over MPI_COMM_WORLD, in MPI_Init. Returns a warning or nothing.
[[nodiscard]] std::string begin_faults();

/// Lets the survivors of a failure meet, before MPI_Finalize, which cannot end then. Returns true if there has been
/// one: MPI is left as it is.
[[nodiscard]] bool end_faults() noexcept;
/// After MPI_Finalize: the end of this process is no failure.
void leave_faults() noexcept;

}  // namespace circoll::interpose
