// The numbers of the network between hosts. They are kept or measured, and the same on all ranks.
#pragma once

#include <mpi.h>

#include <span>
#include <string>

#include "circoll/types.hpp"
#include "model/fit.hpp"

namespace circoll::mpi {

struct SharedNetwork {
  std::optional<NetworkNumbers> numbers{};  ///< nothing: the model keeps its default machine
  /// At rank 0, of several nodes: the numbers and where they come from, or why there are none.
  std::string origin{};
  std::string complaint{};  ///< at rank 0: what a user must know; empty: nothing
};

/// Rank 0 takes the numbers from the file that an earlier job has kept. If there is none, one rank of each host times
/// messages (model/probe.hpp) while the others wait, and rank 0 keeps the medians of all pairs. No other rank opens a
/// file. Collective over `comm`, on which no messages are under way: one broadcast, and another one of what was
/// measured. `node_of`: the node of each rank, the same on all ranks. On one node nothing is done.
[[nodiscard]] SharedNetwork share_network(MPI_Comm comm, std::span<const Rank> node_of);

/// Times messages between the first ranks of nodes, which are `leaders` in the order of nodes. Nothing at other ranks
/// than 0, or if MPI fails.
[[nodiscard]] std::optional<NetworkNumbers> measure_network(MPI_Comm comm, int rank, std::span<const int> leaders);

}  // namespace circoll::mpi
