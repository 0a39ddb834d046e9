// Facts that hold through a library's own header and through the standard ABI. The files of Open MPI and MPICH take
// theirs from here, and abi.hpp those of the one that is there at run time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string_view>

#include "circoll/types.hpp"

namespace circoll::mpi::library {

/// A launcher's way to hand an environment variable on to all ranks.
struct LauncherWords {
  std::string_view hands_on_first{};  ///< before the first name
  std::string_view hands_on_next{};   ///< before each one more
  std::string_view preloads{};
};

// Equal buffers are erroneous, but libraries treat them differently. A call must be left to the native collective at
// the ranks where the library refuses it. Elsewhere it must not be left, because there the native collective would wait
// for the others.

struct OpenMpiFacts {
  /// True if the library's own nonblocking collectives may be under way when their communicator is freed.
  static constexpr bool nonblocking_outlives_communicator = false;
  /// True if a rank's own block, given as both buffers, is refused.
  static constexpr bool refuses_equal_blocks = false;
  /// True if a bcast returns an error on a rank that gets less than it expects.
  static constexpr bool refuses_short_bcasts = false;
  /// True if a call that waits frees requests that have failed, persistent ones too.
  static constexpr bool frees_failed_requests = true;
  /// True if a reduction of `count` elements in all is refused if both buffers are `buffer`.
  [[nodiscard]] static bool refuses_equal_buffers(Collective collective, const void* buffer, Count count) {
    return collective == Collective::reduce ||
           (collective == Collective::allreduce && buffer != MPI_BOTTOM && count > 1);
  }
  static constexpr LauncherWords words{"mpirun -x ", " -x ", "mpirun -x LD_PRELOAD"};
};

struct MpichFacts {
  /// MPICH deletes attributes where the last of these operations ends. A thread that waited for that there would wait
  /// forever.
  static constexpr bool nonblocking_outlives_communicator = true;
  static constexpr bool refuses_equal_blocks = true;
  static constexpr bool refuses_short_bcasts = true;
  static constexpr bool frees_failed_requests = false;
  [[nodiscard]] static bool refuses_equal_buffers(Collective /*collective*/, const void* /*buffer*/, Count count) {
    return count > 0;
  }
  static constexpr LauncherWords words{"mpiexec -genvlist ", ",", "mpiexec -genv LD_PRELOAD FILE"};
};

}  // namespace circoll::mpi::library

#ifndef CIRCOLL_SIMULATED
// The thread finds such a variable without a call of the run-time linker, in the drop-in too. Libraries that are loaded
// late have few bytes of this kind.
#define CIRCOLL_THREAD_LOCAL [[gnu::tls_model("initial-exec")]] thread_local

#define CIRCOLL_HAS_CXX_COMPLEX 1

namespace circoll::mpi::library {

// Ranks are processes.
inline constexpr bool waits_inside_mpi = false;
inline constexpr bool shares_data_memory = false;
[[nodiscard]] inline void* allocate_shared_data(std::size_t /*bytes*/) { return nullptr; }
inline void free_shared_data(void* /*data*/) {}

}  // namespace circoll::mpi::library
#endif
