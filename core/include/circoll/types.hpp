// Names of MPI's collectives, element types and operators, as values that need no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace circoll {

/// A rank in a communicator, or a number of ranks. 64 bits, as every count in the library.
using Rank = std::int64_t;
/// Number of elements or bytes; the unit is in the name of the variable.
using Count = std::int64_t;

/// The collectives, named as MPI names them (MPI_Reduce_scatter_block -> reduce_scatter_block).
enum class Collective : std::uint8_t {
  allreduce,
  reduce,
  reduce_scatter_block,
  reduce_scatter,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  bcast,
  barrier,
  alltoall,
  alltoallv,
  scan,
  exscan,
};
inline constexpr std::size_t collective_count = static_cast<std::size_t>(Collective::exscan) + 1;
/// All collectives, in the order of the enumerators.
inline constexpr auto all_collectives = [] {
  std::array<Collective, collective_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Collective>(i);
  return all;
}();

// These read the table of facts in circoll/collectives.hpp, which says more.

/// "reduce_scatter_block" and so on; the name used in ids, the environment and on the command line.
[[nodiscard]] std::string_view to_string(Collective collective);
/// The collective of this name, or nothing.
[[nodiscard]] std::optional<Collective> collective_from_string(std::string_view name);

/// True if the collective has a root argument.
[[nodiscard]] bool is_rooted(Collective collective);
/// True if the collective combines contributions with an operator.
[[nodiscard]] bool is_reducing(Collective collective);
/// True for the collectives whose blocks may differ in size (gatherv, scatterv, allgatherv, reduce_scatter, alltoallv).
[[nodiscard]] bool is_irregular(Collective collective);
/// True for the prefix reductions. Rank r gets the combination of ranks 0 .. r (scan), or 0 .. r-1 (exscan), only.
[[nodiscard]] bool is_prefix(Collective collective);
/// True for the collectives with a block from every rank to every rank (alltoall, alltoallv).
[[nodiscard]] bool is_exchange(Collective collective);

/// Element types: MPI's predefined arithmetic types, by width. Pairs are MPI's value-and-index types
/// (MPI_FLOAT_INT, ...) with the memory layout of the corresponding C struct.
enum class Type : std::uint8_t {
  byte,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  float_long,  ///< C long double
  complex64,   ///< two float32
  complex128,  ///< two float64
  complex_long,
  boolean,  ///< C _Bool
  pair_float_int,
  pair_double_int,
  pair_long_int,
  pair_int_int,
  pair_short_int,
  pair_long_double_int,
  pair_float_float,    ///< Fortran MPI_2REAL
  pair_double_double,  ///< Fortran MPI_2DOUBLE_PRECISION
  logical,             ///< Fortran LOGICAL (4 bytes; zero is false, any other value true)
};
inline constexpr std::size_t type_count = static_cast<std::size_t>(Type::logical) + 1;  ///< how many there are

/// MPI's predefined reduction operators.
enum class Op : std::uint8_t { sum, prod, min, max, land, lor, lxor, band, bor, bxor, minloc, maxloc, replace, no_op };
inline constexpr std::size_t op_count = static_cast<std::size_t>(Op::no_op) + 1;  ///< how many there are

[[nodiscard]] std::string_view to_string(Type type);
[[nodiscard]] std::string_view to_string(Op op);
[[nodiscard]] std::optional<Type> type_from_string(std::string_view name);
[[nodiscard]] std::optional<Op> op_from_string(std::string_view name);

/// Bytes from one element to the next in an array of this type (C's sizeof).
[[nodiscard]] std::size_t extent_bytes(Type type);

}  // namespace circoll
