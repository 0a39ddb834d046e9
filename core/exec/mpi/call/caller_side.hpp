// A buffer of the caller's, and its packed form.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {

/// MPI's buffers of no elements may be any pointer; MPI_BOTTOM is an address to add to.
[[nodiscard]] inline char* as_base(const void* buffer) { return static_cast<char*>(const_cast<void*>(buffer)); }

/// No address, though there is something to be found: MPI_BOTTOM needs a datatype that does not begin at it.
[[nodiscard]] inline bool is_missing(const void* buffer, Count bytes, const TypeInfo& info) {
  return buffer == nullptr && bytes > 0 && info.true_lb_bytes == 0;
}

/// A caller's buffer that takes part at this rank: equal blocks one after another, or blocks at
/// displacements.
struct CallerSide {
  bool significant = false;
  char* buffer = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeInfo info{};
  Count count = 0;  ///< elements of each block, or of the only one
  Rank blocks = 1;
  CountArray counts{};  ///< instead of `count`
  CountArray displs{};
  bool copied = false;  ///< goes through staging memory even if it is dense

  [[nodiscard]] bool staged() const { return significant && (copied || !info.dense); }
  [[nodiscard]] Count bytes_of(Rank block) const { return elements_of(block) * info.size_bytes; }
  [[nodiscard]] Count elements_of(Rank block) const { return counts ? counts[block] : count; }
  [[nodiscard]] Count total_bytes() const;
  /// Null, though there are elements in it.
  [[nodiscard]] bool missing() const;
  [[nodiscard]] char* block_begin(Rank block) const { return buffer + displs[block] * info.extent_bytes; }

  /// Between the buffer and its packed form.
  [[nodiscard]] int pack_to(std::byte* to) const;
  [[nodiscard]] int unpack_from(const std::byte* from) const;
};

}  // namespace circoll::mpi
