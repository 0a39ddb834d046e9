// Facts about MPICH, from version 4.0 on, and the libraries with its binary interface.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

// Found without a call of the run-time linker, in the drop-in too. Libraries that are loaded late have few bytes of
// this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local

// Both came with MPI 4.
#if MPI_VERSION >= 4
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_INIT(prefix, name) prefix##MPI_##name##_init
#define CIRCOLL_HAS_LARGE_COUNTS 1
#else
#define CIRCOLL_HAS_PERSISTENT 0
#define CIRCOLL_HAS_LARGE_COUNTS 0
#endif

#if MPI_VERSION >= 4
#define CIRCOLL_HAS_SESSIONS 1
#else
#define CIRCOLL_HAS_SESSIONS 0
#endif

#define CIRCOLL_TELLS_FAILURES 0

#define CIRCOLL_HAS_CXX_COMPLEX 1

namespace circoll::mpi::library {

/// The name of the library, and of its drop-in.
inline constexpr const MpiLibrary* identity = &mpich_library;

/// The MPI library that does the work; nullptr if it is none that we know.
[[nodiscard]] constexpr const MpiLibrary* implementation() { return identity; }

/// True if MPI_<Name>_init is MPIX_<Name>_init.
inline constexpr bool persistent_is_extension = false;

/// Private communicators that a process may have where MPI_COMM_WORLD shares none. They are an eighth of all that the
/// MPI library can have, so that the program does not run out of them because of us.
inline constexpr int most_private_communicators = 256;

/// True if the library's own nonblocking collectives may be under way when their communicator is freed. Attributes are
/// deleted after them.
[[nodiscard]] constexpr bool nonblocking_outlives_communicator() { return true; }

/// True if an error handler that is set to what MPI_Comm_get_errhandler gives may change who hears of errors. A
/// communicator whose handler nobody has set has none here, although MPICH answers MPI_ERRORS_ARE_FATAL. Its errors and
/// those of no communicator go to the handler of MPI_COMM_SELF if that has one (from 4.1 on), or of MPI_COMM_WORLD.
inline constexpr bool knows_unset_handlers = true;

/// True if a rank's own block, given as both buffers, is refused.
[[nodiscard]] constexpr bool refuses_equal_blocks() { return MpichFacts::refuses_equal_blocks; }

/// True if a bcast returns an error on a rank that gets less than it expects.
[[nodiscard]] constexpr bool refuses_short_bcasts() { return MpichFacts::refuses_short_bcasts; }

/// True if a reduction of `count` elements in all is refused if both buffers are `buffer`.
[[nodiscard]] inline bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
  return MpichFacts::refuses_equal_buffers(collective, buffer, count);
}

/// True if MPI_Pack packs elements of a datatype wrongly. The sizes are in bytes. Where elements are in one piece,
/// 4.0.2 reads the size of their parts out of the handle, where only predefined types have it: from the 513th derived
/// datatype on it packs too little.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype type, Count size, Count true_extent) {
  return size == true_extent && (static_cast<unsigned>(type) & 0xff00U) != 0;
}

/// True if a lone process of sessions only can wait for messages. 4.0 lacks a worker then.
inline constexpr bool sessions_progress_alone = MPICH_NUMVERSION >= 40100000;

/// True if a call that waits frees requests that have failed, persistent ones too.
[[nodiscard]] constexpr bool frees_failed_requests() { return MpichFacts::frees_failed_requests; }

/// True if time passes in MPI's own waiting only.
inline constexpr bool waits_inside_mpi = false;

/// True if ranks share memory for data, in which nothing is kept. Such memory (nullptr: there is none) is
/// allocated here.
inline constexpr bool shares_data_memory = false;
[[nodiscard]] inline void* allocate_shared_data(std::size_t /*bytes*/) { return nullptr; }
inline void free_shared_data(void* /*data*/) {}

/// The launcher's setting that lets survivors of a failure live on; empty: there is none. Hydra has an option,
/// -disable-auto-cleanup, which ranks do not see.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

/// The launcher's way to hand an environment variable on to all ranks.
[[nodiscard]] constexpr const LauncherWords& launcher_words() { return MpichFacts::words; }

}  // namespace circoll::mpi::library
