// Datatypes, operators and data for tests.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::test {

/// A datatype as `base_count` elements of a predefined base type.
struct TypeSpec {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype base = MPI_DATATYPE_NULL;
  Type base_type = Type::byte;
  int base_count = 1;
};

struct OpSpec {
  std::string name;
  MPI_Op op = MPI_OP_NULL;
  bool commutative = true;
  bool idempotent = false;
};

/// A predefined or user's operator together with a datatype that it is defined on.
struct ReduceSpec {
  TypeSpec type;
  OpSpec op;
};

/// Predefined pairs of type and operator, then user operators; made once, freed never (MPI does at the end).
[[nodiscard]] const std::vector<ReduceSpec>& reduce_specs();
/// Predefined types, types with gaps, resized, with a negative lower bound.
[[nodiscard]] const std::vector<TypeSpec>& move_specs();
/// Six ints, described differently: dense, with gaps, as one element.
[[nodiscard]] const std::vector<TypeSpec>& six_ints();

/// Memory of `count` elements of a datatype, between guards.
class GuardedMemory {
 public:
  GuardedMemory(const TypeSpec& spec, Count count);
  /// The address that MPI takes as the buffer's.
  [[nodiscard]] char* address() { return bytes_.data() + offset_; }
  [[nodiscard]] const std::vector<char>& bytes() const { return bytes_; }
  /// Writes small values that depend on `seed` into elements [first, first + count).
  void fill(Count first, Count count, unsigned seed);
  /// The elements without gaps.
  [[nodiscard]] std::vector<char> packed() const;
  /// True if nothing around the elements was written.
  [[nodiscard]] bool guards_intact() const;

 private:
  TypeSpec spec_;
  Count count_;
  MPI_Count extent_ = 0;
  std::ptrdiff_t offset_ = 0;
  std::vector<char> bytes_;
};

}  // namespace circoll::test
