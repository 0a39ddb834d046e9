// Schedules of neighbourhood collectives that pass between nodes in joined messages.
//
// Between two nodes there is one message each way. A rank needs to know the edges of its own node's ranks.
//
// Source: Collom, Li, Bienz: Optimizing irregular communication with neighborhood collectives and locality-aware
// parallelism, 2023 (full aggregation). Differs: only ranks with edges between two nodes carry for these nodes, and
// edges inside a node go straight.
#pragma once

#include <cstddef>
#include <span>

#include "schedule/neighborhood.hpp"

namespace circoll {

/// The edges of all ranks of one node.
struct NodeNeighborhood {
  std::span<const Neighborhood> members{};  ///< of the node's ranks, in ascending order
  std::span<const NeighborBlocks> names{};  ///< of each member's blocks; all say the same number of blocks
  std::size_t own = 0;                      ///< the member whose schedule is written
  std::span<const Rank> node_of{};          ///< of each of the p ranks, counted from 0
};

/// One rank's part. For each two nodes one rank of the first node gathers what its node has for the other node, and
/// sends it to one rank there, which hands it on. In an allgather the block of a rank crosses once to each node. Those
/// that gather and hand on are ranks with such edges, and take turns from node to node. A rank's messages to other
/// nodes are in the order of the distance of the nodes, and `window` of them are under way at most, each way.
[[nodiscard]] Schedule build_neighbor_node_aware(const NodeNeighborhood& node, NeighborContract contract,
                                                 std::size_t window = neighbor_window);

}  // namespace circoll
