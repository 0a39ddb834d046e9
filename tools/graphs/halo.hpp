// Calls of neighbourhood collectives that a graph or a grid means. They have the neighbours of all ranks, their
// schedules, and the traffic between nodes. The commands show, explain and simulate use them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/model.hpp"
#include "circoll/neighbor_function.hpp"
#include "graphs/graph.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll::graphs {

/// One call of all ranks.
struct Halo {
  NeighborFunction function = NeighborFunction::alltoall;
  std::vector<Neighborhood> ranks{};
  /// The values that travel along each edge out of each rank: 1 in the functions whose blocks have equal sizes.
  std::vector<std::vector<Count>> values{};
};

/// The call of ranks that share the vertices of a graph. Each rank has equally many in a row, up to one. It sends the
/// values that the vertices of another rank need, each once. An allgather(v) gives all neighbours the same values.
/// 1 <= ranks <= vertices. Throws Error(invalid_argument).
[[nodiscard]] Halo halo_of(const Graph& graph, Rank ranks, NeighborFunction function);
/// The call of the ranks of a grid, each of which has one value for each neighbour.
[[nodiscard]] Halo halo_of(const Grid& grid, NeighborFunction function);

/// The algorithms of such a call.
enum class HaloWay : std::uint8_t { direct, node_aware };

/// The schedules of all ranks. Each value is a block. node_of[r] is the node of rank r, which `direct` does not need.
[[nodiscard]] std::vector<Schedule> schedules_of(const Halo& halo, HaloWay way = HaloWay::direct,
                                                 std::span<const Rank> node_of = {});
/// The predicted time [s] of the node that takes longest, with values of so many bytes.
[[nodiscard]] double seconds(const Halo& halo, HaloWay way, std::span<const Rank> node_of, Count bytes,
                             const Machine& machine);

/// The messages and values of a call by `direct`. Values that ranks have for themselves are not among them.
struct HaloTraffic {
  Count messages = 0;
  Count values = 0;
  Count messages_between = 0;  ///< between nodes
  Count values_between = 0;
  /// By `node_aware`, between nodes: one message from a node to another one. In an allgather(v) what several ranks of
  /// a node need crosses once.
  Count joined_messages = 0;
  Count joined_values = 0;
};
/// node_of[r] is the node of rank r.
[[nodiscard]] HaloTraffic traffic_of(const Halo& halo, std::span<const Rank> node_of);

}  // namespace circoll::graphs
