// Facts about Open MPI, from version 4.1 on.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

#if OMPI_MAJOR_VERSION < 5 && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

// Found without a call of the run-time linker, in the drop-in too. Libraries that are loaded late have few bytes of
// this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local

// Version 4 has them as an extension, version 5 under their own names, though it says that it is MPI 3.1.
#if OMPI_MAJOR_VERSION >= 5
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_PERSISTENT_IS_EXTENSION 0
#define CIRCOLL_INIT(prefix, name) prefix##MPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_PERSISTENT_IS_EXTENSION 1
#define CIRCOLL_INIT(prefix, name) prefix##MPIX_##name##_init
#else
#define CIRCOLL_HAS_PERSISTENT 0
#define CIRCOLL_PERSISTENT_IS_EXTENSION 0
#endif

// From version 6 on.
#if MPI_VERSION >= 4
#define CIRCOLL_HAS_LARGE_COUNTS 1
#else
#define CIRCOLL_HAS_LARGE_COUNTS 0
#endif

// Revoked communicators and failed processes (failures.hpp), from version 5 on.
#if OMPI_MAJOR_VERSION >= 5
#define CIRCOLL_TELLS_FAILURES 1
#else
#define CIRCOLL_TELLS_FAILURES 0
#endif

// Likewise.
#if OMPI_MAJOR_VERSION >= 5
#define CIRCOLL_HAS_SESSIONS 1
#else
#define CIRCOLL_HAS_SESSIONS 0
#endif

#define CIRCOLL_HAS_CXX_COMPLEX 1

namespace circoll::mpi::library {

/// The name of the library, and of its drop-in.
inline constexpr const MpiLibrary* identity = &openmpi_library;

/// The MPI library that does the work; nullptr if it is none that we know.
[[nodiscard]] constexpr const MpiLibrary* implementation() { return identity; }

/// True if MPI_<Name>_init is MPIX_<Name>_init.
inline constexpr bool persistent_is_extension = CIRCOLL_PERSISTENT_IS_EXTENSION != 0;

/// Private communicators that a process may have where MPI_COMM_WORLD shares none. They are an eighth of all that the
/// MPI library can have, so that the program does not run out of them because of us.
inline constexpr int most_private_communicators = 4096;

/// True if the library's own nonblocking collectives may be under way when their communicator is freed.
[[nodiscard]] constexpr bool nonblocking_outlives_communicator() { return false; }

/// True if an error handler that is set to what MPI_Comm_get_errhandler gives may change who hears of errors.
inline constexpr bool knows_unset_handlers = false;

/// True if a rank's own block, given as both buffers, is refused.
[[nodiscard]] constexpr bool refuses_equal_blocks() { return OpenMpiFacts::refuses_equal_blocks; }

/// True if a bcast returns an error on a rank that gets less than it expects.
[[nodiscard]] constexpr bool refuses_short_bcasts() { return OpenMpiFacts::refuses_short_bcasts; }

/// True if a reduction of `count` elements in all is refused if both buffers are `buffer`.
[[nodiscard]] inline bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
  return OpenMpiFacts::refuses_equal_buffers(collective, buffer, count);
}

/// True if MPI_Pack packs elements of a datatype wrongly. The sizes are in bytes.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }

/// True if a single process gets on with messages to itself in a program of sessions.
inline constexpr bool sessions_progress_alone = true;

/// True if a call that waits frees requests that have failed, persistent ones too.
[[nodiscard]] constexpr bool frees_failed_requests() { return OpenMpiFacts::frees_failed_requests; }

/// True if time passes in MPI's own waiting only.
inline constexpr bool waits_inside_mpi = false;

/// True if ranks share memory for data, in which nothing is kept. Such memory (nullptr: there is none) is
/// allocated here.
inline constexpr bool shares_data_memory = false;
[[nodiscard]] inline void* allocate_shared_data(std::size_t /*bytes*/) { return nullptr; }
inline void free_shared_data(void* /*data*/) {}

/// The launcher's setting that lets survivors of a failure live on; empty: there is none that ranks see. From version 5
/// on the launcher shows them nothing of the option.
inline constexpr const char* lets_survivors_live = OMPI_MAJOR_VERSION < 5 ? "OMPI_MCA_orte_enable_recovery" : "";
inline constexpr const char* how_survivors_live = "mpirun --enable-recovery does not";

/// The launcher's way to hand an environment variable on to all ranks.
[[nodiscard]] constexpr const LauncherWords& launcher_words() { return OpenMpiFacts::words; }

}  // namespace circoll::mpi::library
