// The graphs of neighbourhood collectives: random ones, and grids.
#include <algorithm>
#include <utility>

#include "communicators.hpp"
#include "random.hpp"

namespace circoll::torture {
namespace {

/// The n-th edge from a rank to another one is the n-th edge there from that rank.
void pair_edges(Topology& all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::vector<int> met(all.size(), 0);
    for (Edges::In& edge : all[r].in) {
      int nth = met[static_cast<std::size_t>(edge.source)]++;
      const std::vector<int>& out = all[static_cast<std::size_t>(edge.source)].out;
      while (out[static_cast<std::size_t>(edge.block)] != static_cast<int>(r) || nth-- > 0) ++edge.block;
    }
  }
}

/// Edges to the rank itself, several edges between two ranks, and ranks without edges are there now and then.
Topology random_graph(std::uint64_t seed, int size) {
  Random random(seed);
  Topology all(static_cast<std::size_t>(size));
  const bool isolates = random.percent(30), simple = random.percent(40);
  for (std::int64_t edges = random.between(0, 3 * size); edges > 0; --edges) {
    const auto from = static_cast<int>(random.below(size)), to = static_cast<int>(random.below(size));
    if (isolates && (from == size / 2 || to == size / 2)) continue;
    std::vector<int>& out = all[static_cast<std::size_t>(from)].out;
    if (simple && std::ranges::find(out, to) != out.end()) continue;
    out.push_back(to);
    std::vector<Edges::In>& in = all[static_cast<std::size_t>(to)].in;
    in.insert(in.begin() + random.between(0, std::ssize(in)), {.source = from, .block = 0});
  }
  pair_edges(all);
  return all;
}

/// A block that goes in one direction arrives from the other one.
Topology edges_of(const Grid& grid) {
  int size = 1;
  for (const int extent : grid.dims) size *= extent;
  Topology all(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    Edges& mine = all[static_cast<std::size_t>(r)];
    int stride = size, rest = r;
    for (std::size_t d = 0; d < grid.dims.size(); ++d) {
      const int extent = grid.dims[d], block = static_cast<int>(2 * d);
      stride /= extent;
      const int at = rest / stride;
      rest %= stride;
      for (const int step : {-1, 1}) {
        const int there = (at + step + extent) % extent;
        const bool inside = grid.periods[d] != 0 || (at + step >= 0 && at + step < extent);
        const int peer = inside ? r + (there - at) * stride : no_rank;
        mine.out.push_back(peer);
        mine.in.push_back({.source = peer, .block = step < 0 ? block + 1 : block});
      }
    }
  }
  return all;
}

}  // namespace

Grid grid_of(const CommSpec& spec, int size) {
  Random random(spec.seed);
  Grid grid;
  for (std::int64_t dimensions = random.between(1, 3); dimensions > 0; --dimensions) {
    std::vector<int> extents{1, 1, 2, size};
    if (size % 2 == 1) extents.push_back(3);
    int extent = random.pick(extents);
    if (dimensions == 1) extent = size;  // most ranks are in it
    extent = std::min(extent, size);
    grid.dims.insert(grid.dims.begin() + random.between(0, std::ssize(grid.dims)), extent);
    grid.periods.push_back(random.percent(60) ? 1 : 0);
    size /= extent;
  }
  return grid;
}

std::shared_ptr<const Topology> topology_of(const CommSpec& spec, int size) {
  if (spec.kind == CommKind::graph) return std::make_shared<const Topology>(random_graph(spec.seed, size));
  if (spec.kind == CommKind::grid) return std::make_shared<const Topology>(edges_of(grid_of(spec, size)));
  return nullptr;
}

}  // namespace circoll::torture
