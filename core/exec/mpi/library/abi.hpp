// Facts about the standard ABI of MPI, from MPI 5 on. The library behind it is known at run time only. What differs
// among libraries is asked of that one, or is what is right over all of them.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

// Found without a call of the run-time linker, in the drop-in too. Libraries that are loaded late have few bytes of
// this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local

// The ABI came with MPI 5, which has both.
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_INIT(prefix, name) prefix##MPI_##name##_init
#define CIRCOLL_HAS_LARGE_COUNTS 1

#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_HAS_SESSIONS 1

#define CIRCOLL_HAS_CXX_COMPLEX 1

namespace circoll::mpi::library {

/// The name of the library, and of its drop-in.
inline constexpr const MpiLibrary* identity = &abi_library;

/// The MPI library that does the work; nullptr if it is none that we know. MPI allows the question at any time.
[[nodiscard]] inline const MpiLibrary* implementation() {
  static const MpiLibrary* const found = []() -> const MpiLibrary* {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return nullptr;
    for (const MpiLibrary* const library : mpi_implementations) {
      if (std::string_view(text.data()).starts_with(library->title)) return library;
    }
    return nullptr;
  }();
  return found;
}

/// True if MPI_<Name>_init is MPIX_<Name>_init.
inline constexpr bool persistent_is_extension = false;

/// Private communicators that a process may have where MPI_COMM_WORLD shares none: MPICH's number, the smaller one.
inline constexpr int most_private_communicators = 256;

/// True if the library's own nonblocking collectives may be under way when their communicator is freed. MPICH deletes
/// attributes where the last of them ends, so that whoever waited for it there would wait forever.
[[nodiscard]] inline bool nonblocking_outlives_communicator() { return implementation() == &mpich_library; }

/// True if an error handler that is set to what MPI_Comm_get_errhandler gives may change who hears of errors. It may
/// over MPICH (mpich.hpp).
inline constexpr bool knows_unset_handlers = true;

/// True if a single process gets on with messages to itself in a program of sessions.
inline constexpr bool sessions_progress_alone = true;

// Over a library that we do not know equal buffers are served like others. All ranks do so, and nobody waits.

/// True if a rank's own block, given as both buffers, is refused.
[[nodiscard]] inline bool refuses_equal_blocks() {
  return implementation() == &mpich_library && MpichFacts::refuses_equal_blocks;
}

/// True if a bcast returns an error on a rank that gets less than it expects.
[[nodiscard]] inline bool refuses_short_bcasts() {
  return implementation() == &mpich_library && MpichFacts::refuses_short_bcasts;
}

/// True if a call that waits frees requests that have failed, persistent ones too.
[[nodiscard]] inline bool frees_failed_requests() {
  return implementation() == &openmpi_library && OpenMpiFacts::frees_failed_requests;
}

/// True if a reduction of `count` elements in all is refused if both buffers are `buffer`.
[[nodiscard]] inline bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
  if (implementation() == &openmpi_library) return OpenMpiFacts::refuses_equal_buffers(collective, buffer, count);
  return implementation() == &mpich_library && MpichFacts::refuses_equal_buffers(collective, buffer, count);
}

/// True if MPI_Pack packs elements of a datatype wrongly. The sizes are in bytes. MPICH 4 did, and has no ABI.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }

/// True if time passes in MPI's own waiting only.
inline constexpr bool waits_inside_mpi = false;

/// True if ranks share memory for data, in which nothing is kept. Such memory (nullptr: there is none) is
/// allocated here.
inline constexpr bool shares_data_memory = false;
[[nodiscard]] inline void* allocate_shared_data(std::size_t /*bytes*/) { return nullptr; }
inline void free_shared_data(void* /*data*/) {}

/// The launcher's setting that lets survivors of a failure live on; empty: there is none that ranks see. Launchers of
/// Open MPI 6 and of MPICH show them nothing of their options.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

/// The launcher's way to hand an environment variable on to all ranks.
[[nodiscard]] inline const LauncherWords& launcher_words() {
  return implementation() == &mpich_library ? MpichFacts::words : OpenMpiFacts::words;
}

}  // namespace circoll::mpi::library
