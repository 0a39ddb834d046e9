// The names of MPI's functions for the collectives, from which all tables and switches over such functions are made.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "circoll/types.hpp"

/// Applies X(collective, Name, form) to all collectives with counts: MPI_<Name>, MPI_I<collective>, MPI_<Name>_init,
/// and the same with _c. The form names the arguments up to the communicator, in MPI's order.
#define CIRCOLL_MPI_FUNCTIONS_WITH_COUNTS(X)                          \
  X(allreduce, Allreduce, reduction)                                  \
  X(reduce, Reduce, reduction_to_root)                                \
  X(reduce_scatter_block, Reduce_scatter_block, reduction_to_a_block) \
  X(reduce_scatter, Reduce_scatter, reduction_to_blocks)              \
  X(allgather, Allgather, counts_of_both)                             \
  X(allgatherv, Allgatherv, array_of_received)                        \
  X(gather, Gather, counts_of_both_and_root)                          \
  X(gatherv, Gatherv, array_of_received_and_root)                     \
  X(scatter, Scatter, counts_of_both_and_root)                        \
  X(scatterv, Scatterv, array_of_sent_and_root)                       \
  X(bcast, Bcast, buffer_and_root)                                    \
  X(alltoall, Alltoall, counts_of_both)                               \
  X(alltoallv, Alltoallv, arrays_of_both)                             \
  X(scan, Scan, reduction)                                            \
  X(exscan, Exscan, reduction)
/// The same for all collectives.
#define CIRCOLL_MPI_FUNCTIONS(X)       \
  CIRCOLL_MPI_FUNCTIONS_WITH_COUNTS(X) \
  X(barrier, Barrier, nothing)

namespace circoll {

struct MpiFunction {
  Collective collective;
  std::string_view lower;  ///< as in MPI_Iallreduce
  std::string_view name;   ///< as in MPI_Allreduce
};

#define CIRCOLL_ROW(collective, Name, form) MpiFunction{Collective::collective, #collective, #Name},
inline constexpr std::array mpi_functions{CIRCOLL_MPI_FUNCTIONS(CIRCOLL_ROW)};
#undef CIRCOLL_ROW

namespace detail {

/// A name is that of its collective but for the capital, and no collective is missing or there twice.
consteval bool names_every_collective_once() {
  std::array<int, collective_count> found{};
  for (const MpiFunction& function : mpi_functions) {
    ++found[static_cast<std::size_t>(function.collective)];
    const char capital = static_cast<char>(function.lower[0] - 'a' + 'A');
    if (function.name[0] != capital || function.name.substr(1) != function.lower.substr(1)) return false;
  }
  for (const int times : found) {
    if (times != 1) return false;
  }
  return true;
}
static_assert(names_every_collective_once());

}  // namespace detail
}  // namespace circoll
