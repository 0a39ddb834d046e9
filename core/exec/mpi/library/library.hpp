// Facts about the MPI library that this is compiled for, beyond the standard.
//
// Each library has a file of its own with all of these names, so that one more library is one more file and two lines
// here. The macros are for names that not every header declares; everything else is a constant or a function:
//
//   CIRCOLL_THREAD_LOCAL        a variable of each thread, quick to find
//   CIRCOLL_HAS_PERSISTENT      1 if there are persistent collectives; CIRCOLL_INIT(P, Bcast) is then PMPI_Bcast_init,
//                               or PMPIX_Bcast_init where they are an extension; CIRCOLL_INIT(, Bcast) is without P
//   CIRCOLL_HAS_LARGE_COUNTS    1 if functions ending in _c take 64-bit counts
//   CIRCOLL_HAS_CXX_COMPLEX     1 if the complex types of C++ are declared
//   CIRCOLL_HAS_SESSIONS        1 if there are sessions
//   CIRCOLL_TELLS_FAILURES      1 if the library tells of failures (failures.hpp)
//   CIRCOLL_FACTS_AT_RUN_TIME   1 if the questions of OpenMpiFacts are functions, and there is no Facts
//
//   identity                    the name of the library, and of its drop-in
//   implementation()            the MPI library that does the work; nullptr if it is none that we know
//   Facts                       those of OpenMpiFacts, where they are known when this is compiled
//   persistent_is_extension     true if MPI_<Name>_init is MPIX_<Name>_init
//   most_private_communicators  those that a process may have where MPI_COMM_WORLD shares none
//   knows_unset_handlers        true if an error handler that is set to what MPI_Comm_get_errhandler gives may change
//                               who hears of errors
//   packs_wrong()               true if MPI_Pack packs elements of a datatype wrongly; the sizes are in bytes
//   sessions_progress_alone     true if a lone process gets on with messages to itself in a program of sessions
//   waits_inside_mpi            true if time passes in MPI's own waiting only
//   shares_data_memory          true if ranks share memory for data, in which nothing is kept: allocate_shared_data(),
//                               which gives nullptr if there is none, and free_shared_data()
//   lets_survivors_live         the launcher's setting that lets survivors of a failure live on; empty: there is none
//                               that ranks see; how_survivors_live says how else
//
// Persistent collectives and large counts are two facts: Open MPI 5 has the first without the second.
#pragma once

#include <mpi.h>

#if defined(CIRCOLL_SIMULATED)
#include "exec/mpi/library/smpi.hpp"
#elif defined(OPEN_MPI)
#include "exec/mpi/library/openmpi.hpp"
#elif defined(MPICH_VERSION)
#include "exec/mpi/library/mpich.hpp"
#elif defined(MPI_ABI_VERSION)  // which the headers of implementations may define, too
#include "exec/mpi/library/abi.hpp"
#else
#error "Circoll does not know this MPI library: write a file like exec/mpi/library/mpich.hpp for it, and name it here"
#endif

#if !CIRCOLL_FACTS_AT_RUN_TIME
namespace circoll::mpi::library {

[[nodiscard]] constexpr const MpiLibrary* implementation() { return identity; }
[[nodiscard]] constexpr bool nonblocking_outlives_communicator() { return Facts::nonblocking_outlives_communicator; }
[[nodiscard]] constexpr bool refuses_equal_blocks() { return Facts::refuses_equal_blocks; }
[[nodiscard]] constexpr bool refuses_short_bcasts() { return Facts::refuses_short_bcasts; }
[[nodiscard]] constexpr bool frees_failed_requests() { return Facts::frees_failed_requests; }
[[nodiscard]] inline bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
  return Facts::refuses_equal_buffers(collective, buffer, count);
}
[[nodiscard]] constexpr const LauncherWords& launcher_words() { return Facts::words; }

}  // namespace circoll::mpi::library
#endif
