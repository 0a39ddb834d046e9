// Facts about Open MPI, from version 4.1 on. The names stand in library.hpp.
#pragma once

#include <mpi.h>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

#if OMPI_MAJOR_VERSION < 5 && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

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

// Revoked communicators and failed processes (failures.hpp), and sessions, from version 5 on.
#if OMPI_MAJOR_VERSION >= 5
#define CIRCOLL_TELLS_FAILURES 1
#define CIRCOLL_HAS_SESSIONS 1
#else
#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_HAS_SESSIONS 0
#endif

#define CIRCOLL_FACTS_AT_RUN_TIME 0

namespace circoll::mpi::library {

using Facts = OpenMpiFacts;
inline constexpr const MpiLibrary* identity = &openmpi_library;
inline constexpr bool persistent_is_extension = CIRCOLL_PERSISTENT_IS_EXTENSION != 0;

/// An eighth of all that the library can have: the program must not run out of them because of us.
inline constexpr int most_private_communicators = 4096;

inline constexpr bool knows_unset_handlers = false;
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }
inline constexpr bool sessions_progress_alone = true;

/// From version 5 on the launcher shows ranks nothing of the option.
inline constexpr const char* lets_survivors_live = OMPI_MAJOR_VERSION < 5 ? "OMPI_MCA_orte_enable_recovery" : "";
inline constexpr const char* how_survivors_live = "mpirun --enable-recovery does not";

}  // namespace circoll::mpi::library
