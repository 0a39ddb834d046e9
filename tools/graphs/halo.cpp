#include "graphs/halo.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "circoll/error.hpp"
#include "model/neighbor_price.hpp"
#include "schedule/node_aware_neighborhood.hpp"
#include "verify/neighborhood.hpp"

namespace circoll::graphs {
namespace {

bool has_sizes(NeighborFunction function) {
  return function != NeighborFunction::allgather && function != NeighborFunction::alltoall;
}
bool gathers(NeighborFunction function) { return contract_of(function) == NeighborContract::allgather; }

/// The rank that has a vertex.
Rank owner(Rank vertex, Rank vertices, Rank ranks) { return ((vertex + 1) * ranks - 1) / vertices; }

/// The schedule with a block for each value; sizes[b] is the number of values of block b.
Schedule by_values(Schedule schedule, std::span<const Count> sizes) {
  std::vector<Block> begin(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), begin.begin() + 1);
  std::vector<std::vector<Slot>> slot(schedule.buffers.size());
  std::vector<std::vector<Count>> length(schedule.buffers.size());
  for (std::size_t i = 0; i < schedule.buffers.size(); ++i) {
    Buffer& buffer = schedule.buffers[i];
    std::vector<Block> values;
    for (const Block block : buffer.list) {
      const auto b = static_cast<std::size_t>(block);
      slot[i].push_back(static_cast<Slot>(values.size()));
      length[i].push_back(sizes[b]);
      for (Block value = begin[b]; value < begin[b + 1]; ++value) values.push_back(value);
    }
    buffer.slots = static_cast<Slot>(values.size());
    buffer.list = std::move(values);
  }
  for (Range& range : schedule.ranges) {
    const auto buffer = static_cast<std::size_t>(range.buffer);
    const auto first = static_cast<std::size_t>(range.first);
    const auto lengths = std::span(length[buffer]).subspan(first, static_cast<std::size_t>(range.count));
    range = {range.buffer, slot[buffer][first], std::accumulate(lengths.begin(), lengths.end(), Count{0})};
  }
  schedule.user_blocks = std::max<Block>(begin.back(), 1);
  return schedule;
}

}  // namespace

Halo halo_of(const Graph& graph, Rank ranks, NeighborFunction function) {
  require(ranks >= 1 && ranks <= graph.vertices, "each rank has at least one vertex");
  const auto rank_of = [&](Rank vertex) { return owner(vertex, graph.vertices, ranks); };
  // Edges are sorted by their sources, so that those of a rank stand together.
  std::vector<std::tuple<Rank, Rank, Rank>> needed;  // from rank, to rank, vertex
  for (const Edge& edge : graph.edges) {
    const Rank from = rank_of(edge.from);
    const Rank to = rank_of(edge.to);
    if (from != to) needed.emplace_back(from, to, edge.from);
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  Halo halo{.function = function};
  for (Rank r = 0; r < ranks; ++r) halo.ranks.push_back({.size = ranks, .rank = r});
  halo.values.resize(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < needed.size();) {
    const auto [from, to, first] = needed[i];
    Count values = 0;
    for (; i < needed.size() && std::get<0>(needed[i]) == from && std::get<1>(needed[i]) == to; ++i) ++values;
    Neighborhood& source = halo.ranks[static_cast<std::size_t>(from)];
    Neighborhood& target = halo.ranks[static_cast<std::size_t>(to)];
    source.out.push_back({.peer = to, .place = source.out.size()});
    target.in.push_back({.peer = from, .place = target.in.size()});
    halo.values[static_cast<std::size_t>(from)].push_back(has_sizes(function) ? values : 1);
  }
  if (function == NeighborFunction::allgatherv) {
    std::set<std::pair<Rank, Rank>> contributed;  // rank, vertex
    for (const auto& [from, to, vertex] : needed) contributed.emplace(from, vertex);
    std::vector<Count> number(static_cast<std::size_t>(ranks));
    for (const auto& [rank, vertex] : contributed) ++number[static_cast<std::size_t>(rank)];
    for (std::size_t r = 0; r < number.size(); ++r) std::fill(halo.values[r].begin(), halo.values[r].end(), number[r]);
  }
  return halo;
}

Halo halo_of(const Grid& grid, NeighborFunction function) {
  Halo halo{.function = function};
  const Rank ranks = grid.ranks();
  for (Rank r = 0; r < ranks; ++r) {
    std::vector<GridNeighbors> neighbors;
    Rank stride = ranks;
    for (const Rank length : grid.dimensions) {  // the last dimension varies fastest, as in MPI
      stride /= length;
      const Rank at = r / stride % length;
      const auto moved = [&](Rank to) {
        if (!grid.periodic && (to < 0 || to >= length)) return Rank{-1};
        return r + ((to + length) % length - at) * stride;
      };
      neighbors.push_back({.below = moved(at - 1), .above = moved(at + 1)});
    }
    halo.ranks.push_back(neighborhood_of_grid(ranks, r, neighbors));
    halo.values.emplace_back(halo.ranks.back().out.size(), 1);
  }
  return halo;
}

namespace {

/// The schedules of all ranks, and the values of each of their blocks.
struct SizedSchedules {
  std::vector<Schedule> ranks{};
  std::vector<Count> sizes{};
};

SizedSchedules sized_schedules(const Halo& halo, HaloWay way, std::span<const Rank> node_of) {
  const NeighborContract contract = contract_of(halo.function);
  const std::vector<NeighborBlocks> blocks = verify::shared_blocks(halo.ranks, contract);
  SizedSchedules made;
  made.sizes.assign(static_cast<std::size_t>(blocks.empty() ? 0 : blocks.front().blocks), 1);
  for (std::size_t r = 0; r < halo.ranks.size(); ++r) {
    for (std::size_t i = 0; i < blocks[r].sent.size(); ++i)
      made.sizes[static_cast<std::size_t>(blocks[r].sent[i])] = halo.values[r][i];
  }
  if (way == HaloWay::direct) {
    for (std::size_t r = 0; r < halo.ranks.size(); ++r)
      made.ranks.push_back(build_neighbor_direct(halo.ranks[r], contract, blocks[r]));
    return made;
  }
  require(node_of.size() == halo.ranks.size(), "there is a node for each rank");
  std::map<Rank, std::pair<std::vector<Neighborhood>, std::vector<NeighborBlocks>>> nodes;
  std::vector<std::size_t> place;  // of each rank in its node
  for (std::size_t r = 0; r < halo.ranks.size(); ++r) {
    auto& [members, names] = nodes[node_of[r]];
    place.push_back(members.size());
    members.push_back(halo.ranks[r]);
    names.push_back(blocks[r]);
  }
  for (std::size_t r = 0; r < halo.ranks.size(); ++r) {
    const auto& [members, names] = nodes[node_of[r]];
    made.ranks.push_back(
        build_neighbor_node_aware({.members = members, .names = names, .own = place[r], .node_of = node_of}, contract));
  }
  return made;
}

}  // namespace

std::vector<Schedule> schedules_of(const Halo& halo, HaloWay way, std::span<const Rank> node_of) {
  SizedSchedules made = sized_schedules(halo, way, node_of);
  for (Schedule& schedule : made.ranks) schedule = by_values(std::move(schedule), made.sizes);
  return std::move(made.ranks);
}

double seconds(const Halo& halo, HaloWay way, std::span<const Rank> node_of, Count bytes, const Machine& machine) {
  SizedSchedules made = sized_schedules(halo, way, node_of);
  for (Count& size : made.sizes) size *= bytes;
  std::map<Rank, NeighborWork> nodes;
  for (std::size_t r = 0; r < made.ranks.size(); ++r)
    nodes[node_of[r]].add(work_of(made.ranks[r], made.sizes, node_of, machine));
  double longest = 0;
  for (const auto& [node, work] : nodes)
    longest = std::max(longest, circoll::seconds(work, way == HaloWay::direct ? 0 : 2, machine, false));
  return longest;
}

HaloTraffic traffic_of(const Halo& halo, std::span<const Rank> node_of) {
  require(node_of.size() == halo.ranks.size(), "there is a node for each rank");
  HaloTraffic traffic;
  std::set<std::pair<Rank, Rank>> pairs;        // of nodes
  std::set<std::pair<Rank, Rank>> contributed;  // a rank's values at a node
  for (std::size_t r = 0; r < halo.ranks.size(); ++r) {
    for (std::size_t i = 0; i < halo.ranks[r].out.size(); ++i) {
      const Rank peer = halo.ranks[r].out[i].peer;
      const Count values = halo.values[r][i];
      if (peer == static_cast<Rank>(r)) continue;
      ++traffic.messages;
      traffic.values += values;
      const Rank from = node_of[r];
      const Rank to = node_of[static_cast<std::size_t>(peer)];
      if (from == to) continue;
      ++traffic.messages_between;
      traffic.values_between += values;
      pairs.emplace(from, to);
      if (gathers(halo.function) && !contributed.emplace(static_cast<Rank>(r), to).second) continue;
      traffic.joined_values += values;
    }
  }
  traffic.joined_messages = static_cast<Count>(pairs.size());
  return traffic;
}

}  // namespace circoll::graphs
