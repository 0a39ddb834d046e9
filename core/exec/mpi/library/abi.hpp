// Facts about the standard ABI of MPI, from MPI 5 on. The library behind it is known at run time only. Where libraries
// differ, a fact is that of the library found at run time, or one that is right over all of them. The names stand in
// library.hpp.
#pragma once

#include <mpi.h>

#include <array>
#include <string_view>

#include "circoll/types.hpp"
#include "exec/mpi/library/implementations.hpp"
#include "facts/mpi_libraries.hpp"

// The ABI came with MPI 5, which has all of them.
#define CIRCOLL_HAS_PERSISTENT 1
#define CIRCOLL_INIT(prefix, name) prefix##MPI_##name##_init
#define CIRCOLL_HAS_LARGE_COUNTS 1
#define CIRCOLL_HAS_SESSIONS 1

#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_FACTS_AT_RUN_TIME 1

namespace circoll::mpi::library {

inline constexpr const MpiLibrary* identity = &abi_library;

/// MPI allows the question at any time.
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

inline constexpr bool persistent_is_extension = false;

/// MPICH's number, the smaller one.
inline constexpr int most_private_communicators = 256;

/// It may over MPICH (mpich.hpp).
inline constexpr bool knows_unset_handlers = true;

/// MPICH 4 did, and has no ABI.
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }
inline constexpr bool sessions_progress_alone = true;

// Over an unknown library, calls with equal buffers are served like others. All ranks do so, and no rank waits.

[[nodiscard]] inline bool nonblocking_outlives_communicator() {
  return implementation() == &mpich_library && MpichFacts::nonblocking_outlives_communicator;
}
[[nodiscard]] inline bool refuses_equal_blocks() {
  return implementation() == &mpich_library && MpichFacts::refuses_equal_blocks;
}
[[nodiscard]] inline bool refuses_short_bcasts() {
  return implementation() == &mpich_library && MpichFacts::refuses_short_bcasts;
}
[[nodiscard]] inline bool frees_failed_requests() {
  return implementation() == &openmpi_library && OpenMpiFacts::frees_failed_requests;
}
[[nodiscard]] inline bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
  if (implementation() == &openmpi_library) return OpenMpiFacts::refuses_equal_buffers(collective, buffer, count);
  return implementation() == &mpich_library && MpichFacts::refuses_equal_buffers(collective, buffer, count);
}
[[nodiscard]] inline const LauncherWords& launcher_words() {
  return implementation() == &mpich_library ? MpichFacts::words : OpenMpiFacts::words;
}

/// Launchers of Open MPI 6 and of MPICH show ranks none of their options.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

}  // namespace circoll::mpi::library
