// Failures that the MPI library tells of, by the extension ULFM. They are communicators that the program has revoked,
// and processes that have failed. Open MPI has it from version 5 on. MPICH has functions of these names, which end the
// program (ch4).
#pragma once

#include <mpi.h>

#include "exec/mpi/library/library.hpp"

namespace circoll::mpi::library {

/// True if the library tells of them.
inline constexpr bool tells_failures = CIRCOLL_TELLS_FAILURES != 0;

#if CIRCOLL_TELLS_FAILURES

/// The error of a message from a process that is no more.
inline constexpr int process_failed = MPI_ERR_PROC_FAILED;
/// True if the program has revoked the communicator, as far as this process knows. Takes some nanoseconds.
[[nodiscard]] bool is_revoked(MPI_Comm comm);
/// The error of collectives on the communicator because it is revoked or a process of it has failed. Otherwise
/// MPI_SUCCESS. Takes some ten nanoseconds.
[[nodiscard]] int failure_of(MPI_Comm comm);
/// True if an error code is one of these.
[[nodiscard]] constexpr bool is_failure(int error) { return error == MPI_ERR_REVOKED || error == MPI_ERR_PROC_FAILED; }
/// True if the user has told the launcher that processes may fail (mpirun --with-ft ulfm). Only then other ranks learn
/// of a revocation.
[[nodiscard]] bool outlives_failures();
/// Ends all that is under way on a communicator of this process alone, with MPI_ERR_REVOKED.
void revoke(MPI_Comm comm);

#else

inline constexpr int process_failed = MPI_ERR_OTHER;
[[nodiscard]] constexpr bool is_revoked(MPI_Comm /*comm*/) { return false; }
[[nodiscard]] constexpr int failure_of(MPI_Comm /*comm*/) { return MPI_SUCCESS; }
[[nodiscard]] constexpr bool is_failure(int /*error*/) { return false; }
[[nodiscard]] constexpr bool outlives_failures() { return false; }
constexpr void revoke(MPI_Comm /*comm*/) {}

#endif

}  // namespace circoll::mpi::library
