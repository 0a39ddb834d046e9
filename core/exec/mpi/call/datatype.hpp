// Facts about an MPI datatype for the executor, and packing without int limits.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "circoll/types.hpp"

namespace circoll::mpi {

struct TypeInfo {
  std::uint64_t id = 0;  ///< of this datatype object: never used again, unlike MPI's handles after MPI_Type_free
  Count size_bytes = 0;
  Count lb_bytes = 0;
  Count extent_bytes = 0;
  Count true_lb_bytes = 0;
  Count true_extent_bytes = 0;
  bool valid = false;             ///< false if MPI could not describe it (not committed, MPI_DATATYPE_NULL)
  bool dense = false;             ///< an array in memory is byte for byte its packed form
  bool named = false;             ///< predefined by MPI
  std::optional<Type> element{};  ///< the type of our kernels, where there is one
};

/// Describes a datatype. Predefined types come from a table, derived ones are described once and remember it
/// in an attribute, so that a repeated call costs a lookup. Thread-safe.
[[nodiscard]] TypeInfo describe(MPI_Datatype type);
/// Makes describe() say the same, id included, of a new handle of an equal datatype. After describe() of the first.
void describe_as(MPI_Datatype type, const TypeInfo& info);

/// The datatype of a block of `count` elements where each block has its own. Libraries read none where there are no
/// elements.
[[nodiscard]] inline MPI_Datatype type_of_block(const MPI_Datatype* types, Rank block, Count count) {
  return count == 0 ? MPI_BYTE : types[block];
}

/// Bytes that `pack` writes.
[[nodiscard]] inline Count packed_bytes(const TypeInfo& info, Count count) { return info.size_bytes * count; }

/// Elements of `from`, packed without gaps into `to`. Returns an MPI error code.
[[nodiscard]] int pack(const void* from, Count count, MPI_Datatype type, const TypeInfo& info, void* to);
/// The inverse puts packed bytes into `count` elements at `to`; gaps are not touched.
[[nodiscard]] int unpack(const void* from, void* to, Count count, MPI_Datatype type, const TypeInfo& info);

/// A datatype of `count` elements of `type`, where `count` may exceed int. Committed; the caller frees it.
[[nodiscard]] int make_contiguous(Count count, MPI_Datatype type, Count extent_bytes, MPI_Datatype* made);

}  // namespace circoll::mpi
