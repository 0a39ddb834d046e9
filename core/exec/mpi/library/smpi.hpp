// Facts about SMPI, SimGrid's MPI, whose ranks are coroutines of one process. It has no drop-in. The names stand in
// library.hpp.
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
#define CIRCOLL_HAS_SESSIONS 0
#define CIRCOLL_TELLS_FAILURES 0
#define CIRCOLL_FACTS_AT_RUN_TIME 0

// Its header names them, but declares no such variables.
#define CIRCOLL_HAS_CXX_COMPLEX 0

namespace circoll::mpi::library {

struct SmpiFacts {
  static constexpr bool nonblocking_outlives_communicator = true;
  static constexpr bool refuses_equal_blocks = true;
  static constexpr bool refuses_short_bcasts = false;
  static constexpr bool frees_failed_requests = false;
  [[nodiscard]] static bool refuses_equal_buffers(Collective /*collective*/, const void* /*buffer*/, Count count) {
    return count > 0;
  }
  static constexpr LauncherWords words{};  // ranks are one process
};

using Facts = SmpiFacts;
inline constexpr const MpiLibrary* identity = nullptr;
inline constexpr bool persistent_is_extension = false;
inline constexpr int most_private_communicators = 256;
inline constexpr bool knows_unset_handlers = false;
[[nodiscard]] inline bool packs_wrong(MPI_Datatype /*type*/, Count /*size*/, Count /*true_extent*/) { return false; }
inline constexpr bool sessions_progress_alone = false;
inline constexpr bool waits_inside_mpi = true;

inline constexpr bool shares_data_memory = true;
[[nodiscard]] inline void* allocate_shared_data(std::size_t bytes) {
  return smpi_shared_malloc(bytes, __FILE__, __LINE__);
}
inline void free_shared_data(void* data) { smpi_shared_free(data); }

// Nobody fails here.
inline constexpr const char* lets_survivors_live = "";
inline constexpr const char* how_survivors_live = "";

}  // namespace circoll::mpi::library
