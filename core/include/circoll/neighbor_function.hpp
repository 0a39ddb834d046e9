// The functions of MPI's neighbourhood collectives, which move blocks along the edges of a communicator's graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "circoll/types.hpp"

namespace circoll {

/// MPI_Neighbor_<name>.
enum class NeighborFunction : std::uint8_t { allgather, allgatherv, alltoall, alltoallv, alltoallw };
inline constexpr std::array all_neighbor_functions{NeighborFunction::allgather, NeighborFunction::allgatherv,
                                                   NeighborFunction::alltoall, NeighborFunction::alltoallv,
                                                   NeighborFunction::alltoallw};
/// "neighbor_allgather" and so on.
[[nodiscard]] std::string_view to_string(NeighborFunction function);
/// The collective that is the same among all ranks. It stands for the function where one of Collective is wanted.
[[nodiscard]] constexpr Collective among_all(NeighborFunction function) {
  constexpr std::array all{Collective::allgather, Collective::allgatherv, Collective::alltoall, Collective::alltoallv,
                           Collective::alltoallv};
  return all.at(static_cast<std::size_t>(function));
}

}  // namespace circoll
