// Facts about SMPI, SimGrid's MPI, whose ranks are coroutines of one process. It has no drop-in.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

// A simulated rank is no thread: what it remembers must be among the variables that SMPI keeps apart for it.
#define CIRCOLL_THREAD_LOCAL static

#define CIRCOLL_HAS_PERSISTENT 0
#define CIRCOLL_HAS_LARGE_COUNTS 0

#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_HAS_SESSIONS 0

// Its header names them, but declares no such variables.
#define CIRCOLL_HAS_CXX_COMPLEX 0

namespace circoll::mpi::library {

/// The name of the library, and of its drop-in.
inline constexpr const MpiLibrary* identity = nullptr;

/// The MPI library that does the work; nullptr if it is none that we know.
[[nodiscard]] constexpr const MpiLibrary* implementation() { return identity; }

/// True if MPI_<Name>_init is MPIX_<Name>_init.
inline constexpr bool persistent_is_extension = false;

/// Private communicators that a process may have where MPI_COMM_WORLD shares none.
inline constexpr int most_private_communicators = 256;

/// True if the library's own nonblocking collectives may be under way when their communicator is freed.
[[nodiscard]] constexpr bool nonblocking_outlives_communicator() { return true; }

/// True if an error handler that is set to what MPI_Comm_get_errhandler gives may change who hears of errors.
inline constexpr bool knows_unset_handlers = false;

/// True if a rank's own block, given as both buffers, is refused.
[[nodiscard]] constexpr bool refuses_equal_blocks() { return true; }

/// True if a bcast returns an error on a rank that gets less than it expects.
[[nodiscard]] constexpr bool refuses_short_bcasts() { return false; }

/// True if a reduction of `count` elements in all is refused if both buffers are `buffer`.
[[nodiscard]] inline bool refuses_equal_buffers(Collective /*collective*/, const void* /*buffer*/, Count count) {
  return count > 0;
}

/// True if MPI_Pack packs elements of a datatype wrongly. The sizes are in bytes.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }

/// True if a single process gets on with messages to itself in a program of sessions.
inline constexpr bool sessions_progress_alone = false;

/// True if a call that waits frees requests that have failed, persistent ones too.
[[nodiscard]] constexpr bool frees_failed_requests() { return false; }

/// True if time passes in MPI's own waiting only.
inline constexpr bool waits_inside_mpi = true;

/// True if ranks share memory for data, in which nothing is kept. Such memory (nullptr: there is none) is
/// allocated here.
inline constexpr bool shares_data_memory = true;
[[nodiscard]] inline void* allocate_shared_data(std::size_t bytes) {
  return smpi_shared_malloc(bytes, __FILE__, __LINE__);
}
inline void free_shared_data(void* data) { smpi_shared_free(data); }

/// The setting by which the launcher lets survivors of a failure live on; empty: there is none. Nobody fails here.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

/// The launcher's way to hand an environment variable on to all ranks: they are one process.
[[nodiscard]] inline const LauncherWords& launcher_words() {
  static constexpr LauncherWords none{};
  return none;
}

}  // namespace circoll::mpi::library
