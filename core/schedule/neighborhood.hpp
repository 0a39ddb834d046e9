// Schedules of MPI's neighbourhood collectives: blocks go along the edges of a graph, from rank to rank.
//
// A rank needs to know its own edges only. The executor over MPI builds one schedule per communicator and contract, and
// verify/neighborhood.hpp proves those of all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "circoll/neighbor_function.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// An end of an edge at one rank.
struct NeighborEdge {
  Rank peer = 0;          ///< the rank at the other end, which may be the rank itself
  std::size_t place = 0;  ///< of the block among the arguments of MPI's function

  friend bool operator==(const NeighborEdge&, const NeighborEdge&) = default;
};

/// The edges of one rank. The n-th edge out to a peer is the n-th edge in from this rank there.
struct Neighborhood {
  Rank size = 1;                    ///< p
  Rank rank = 0;                    ///< whose edges these are
  std::vector<NeighborEdge> out{};  ///< to the ranks that it sends to
  std::vector<NeighborEdge> in{};   ///< from the ranks that it receives from
};

/// The neighbours of a rank in one dimension of a Cartesian grid; -1: there is none.
struct GridNeighbors {
  Rank below = -1;  ///< in the negative direction
  Rank above = -1;
};
/// The neighbourhood of a rank of a grid. MPI's functions have two blocks for each dimension, below and above. A block
/// sent upwards arrives from below, also where both neighbours are the same rank.
[[nodiscard]] Neighborhood neighborhood_of_grid(Rank size, Rank rank, const std::vector<GridNeighbors>& dimensions);

/// The blocks that a rank sends along its edges.
enum class NeighborContract : std::uint8_t {
  allgather,  ///< one block along all edges
  alltoall,   ///< a block along each edge
};

[[nodiscard]] constexpr NeighborContract contract_of(NeighborFunction function) {
  return function <= NeighborFunction::allgatherv ? NeighborContract::allgather : NeighborContract::alltoall;
}

/// The blocks that a rank has in its send buffer. A rank of an allgather has one, unless nobody receives it.
[[nodiscard]] inline std::size_t blocks_sent(const Neighborhood& neighborhood, NeighborContract contract) {
  const std::size_t edges = neighborhood.out.size();
  return contract == NeighborContract::allgather ? std::min<std::size_t>(edges, 1) : edges;
}

/// The blocks of one rank's buffers: the names by which a schedule knows them, in the order of the edges.
struct NeighborBlocks {
  Block blocks = 1;               ///< how many there are in all
  std::vector<Block> sent{};      ///< of blocks_sent()
  std::vector<Block> received{};  ///< of each edge in
};
/// Names that mean something to this rank alone: first its blocks to send, then its blocks to receive.
[[nodiscard]] NeighborBlocks own_blocks(const Neighborhood& neighborhood, NeighborContract contract);

/// So many messages of a rank are under way at most, each way.
inline constexpr std::size_t neighbor_window = 64;
/// Tags by which an executor tells the messages of two ranks apart. So many double edges go beside one another.
inline constexpr int neighbor_tags = 16;

/// One rank's part: every block goes straight to its destination. Messages are in the order of the distance from source
/// to destination, modulo p. So the messages of the least distance that have not ended wait for nothing, and a window
/// cannot deadlock. A rank's blocks to itself are copied.
[[nodiscard]] Schedule build_neighbor_direct(const Neighborhood& neighborhood, NeighborContract contract,
                                             const NeighborBlocks& blocks, std::size_t window = neighbor_window);

}  // namespace circoll
