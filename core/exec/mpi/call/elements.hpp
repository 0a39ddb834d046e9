// MPI's operators, and how the elements of one execution are combined and copied.
#pragma once

#include <mpi.h>

#include <array>
#include <optional>

#include "circoll/ops.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {

/// MPI's handles of the predefined operators, by Op.
[[nodiscard]] const std::array<MPI_Op, op_count>& predefined_ops();

/// The predefined operator of this handle, or nothing for a user's.
[[nodiscard]] std::optional<Op> predefined_op(MPI_Op op);

/// True if a user's operator commutes; nothing if the handle is not an operator's. Thread-safe.
[[nodiscard]] std::optional<bool> commutes(MPI_Op op);

/// Works on elements in memory. With a kernel, and for bytes, elements are contiguous. Otherwise a user operator works
/// on whole elements of `type`, and their gaps are never written.
struct Elements {
  Count extent_bytes = 1;
  ReduceKernel kernel = nullptr;
  bool typed = false;  ///< elements have gaps: copy and send them with their datatype
  bool commutative = true;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_BYTE;
  TypeInfo info{};
  /// Room for temp_elements elements in memory layout, then as many packed (see temp_bytes).
  std::byte* temp = nullptr;
  Count temp_elements = 0;

  /// dst = left op right. Returns an MPI error code.
  [[nodiscard]] int reduce(char* dst, const char* left, const char* right, Count elements) const;
  /// dst = src.
  [[nodiscard]] int copy(char* dst, const char* src, Count elements) const;

  /// Elements that are worked on at once where a temporary copy is needed.
  [[nodiscard]] static Count temp_elements_for(const TypeInfo& info);
  /// The bytes of that copy.
  [[nodiscard]] Count temp_bytes() const { return temp_elements * (info.extent_bytes + info.size_bytes); }

 private:
  [[nodiscard]] int reduce_user(char* dst, const char* left, const char* right, int elements) const;
  [[nodiscard]] int reduce_through_temp(char* dst, const char* left, const char* right, int elements) const;
  [[nodiscard]] char* temp_element() const;
};

}  // namespace circoll::mpi
