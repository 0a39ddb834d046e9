// Facts about MPICH, from version 4.0 on, and the libraries with its binary interface. The names stand in library.hpp.
#pragma once

#include <mpi.h>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

// All of these came with MPI 4.
#if MPI_VERSION >= 4
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_INIT(prefix, name) prefix##MPI_##name##_init
#define CIRCOLL_HAS_LARGE_COUNTS 1
#define CIRCOLL_HAS_SESSIONS 1
#else
#define CIRCOLL_HAS_PERSISTENT 0
#define CIRCOLL_HAS_LARGE_COUNTS 0
#define CIRCOLL_HAS_SESSIONS 0
#endif

#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_FACTS_AT_RUN_TIME 0

namespace circoll::mpi::library {

using Facts = MpichFacts;
inline constexpr const MpiLibrary* identity = &mpich_library;
inline constexpr bool persistent_is_extension = false;

/// An eighth of all that the library can have: the program must not run out of them because of us.
inline constexpr int most_private_communicators = 256;

/// A communicator whose handler nobody has set has none here, although MPICH answers MPI_ERRORS_ARE_FATAL. Its errors
/// and those of no communicator go to the handler of MPI_COMM_SELF if that has one (from 4.1 on), or of MPI_COMM_WORLD.
inline constexpr bool knows_unset_handlers = true;

/// From the 513th derived datatype on 4.0.2 packs too little. Where elements are in one piece, it reads the size of
/// their parts out of the handle, where only predefined types have it.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype type, Count size, Count true_extent) {
  return size == true_extent && (static_cast<unsigned>(type) & 0xff00U) != 0;
}

/// 4.0 lacks a worker then.
inline constexpr bool sessions_progress_alone = MPICH_NUMVERSION >= 40100000;

/// Hydra has an option, -disable-auto-cleanup, which ranks do not see.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

}  // namespace circoll::mpi::library
