#include "schedule/neighborhood.hpp"

#include <algorithm>
#include <numeric>

#include "circoll/error.hpp"
#include "schedule/neighbor_writer.hpp"

namespace circoll {
namespace {

/// The edges of one direction, by the distance of their messages. Edges of one peer keep their order.
std::vector<std::size_t> by_distance(const std::vector<NeighborEdge>& edges, const auto& distance) {
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(edges[a].peer) < distance(edges[b].peer); });
  return order;
}

}  // namespace

Neighborhood neighborhood_of_grid(Rank size, Rank rank, const std::vector<GridNeighbors>& dimensions) {
  Neighborhood made{.size = size, .rank = rank};
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const auto& [below, above] = dimensions[d];
    // Where both neighbours are one rank, its first block in is from below, and was sent upwards.
    if (above >= 0) made.out.push_back({.peer = above, .place = 2 * d + 1});
    if (below >= 0) made.out.push_back({.peer = below, .place = 2 * d});
    if (below >= 0) made.in.push_back({.peer = below, .place = 2 * d});
    if (above >= 0) made.in.push_back({.peer = above, .place = 2 * d + 1});
  }
  return made;
}

NeighborBlocks own_blocks(const Neighborhood& neighborhood, NeighborContract contract) {
  NeighborBlocks made;
  made.sent.resize(blocks_sent(neighborhood, contract));
  made.received.resize(neighborhood.in.size());
  std::iota(made.sent.begin(), made.sent.end(), Block{0});
  std::iota(made.received.begin(), made.received.end(), static_cast<Block>(made.sent.size()));
  made.blocks = std::max<Block>(1, static_cast<Block>(made.sent.size() + made.received.size()));
  return made;
}

Schedule build_neighbor_direct(const Neighborhood& neighborhood, NeighborContract contract,
                               const NeighborBlocks& blocks, std::size_t window) {
  require(window >= 1, "a window has at least one message");
  const auto& [p, r, out, in] = neighborhood;
  const bool gathers = contract == NeighborContract::allgather;
  Schedule made{.id = gathers ? "neighbor_allgather/direct" : "neighbor_alltoall/direct",
                .collective = Collective::alltoall,
                .shape = {.size = p, .rank = r},
                .user_blocks = blocks.blocks,
                .rounds = static_cast<std::uint32_t>(p)};
  made.buffers = caller_buffers(blocks);
  const auto to = [p = p, r = r](Rank peer) { return (peer - r + p) % p; };
  const auto from = [p = p, r = r](Rank peer) { return (r - peer + p) % p; };
  const std::vector<std::size_t> sends = by_distance(out, to);
  const std::vector<std::size_t> receives = by_distance(in, from);
  const auto sent = [&](std::size_t edge) { return slot_of(send_buffer, gathers ? 0 : edge); };
  NeighborWriter writer(made, window);
  std::size_t s = 0, t = 0;
  for (; s < sends.size() && out[sends[s]].peer == r; ++s, ++t) {
    require(t < receives.size() && in[receives[t]].peer == r, "an edge from a rank to itself has two ends");
    writer.copy(sent(sends[s]), slot_of(recv_buffer, receives[t]));
  }
  require(t == receives.size() || in[receives[t]].peer != r, "an edge from a rank to itself has two ends");
  while (s < sends.size() || t < receives.size()) {
    const Rank next_send = s < sends.size() ? to(out[sends[s]].peer) : p;
    const Rank next_receive = t < receives.size() ? from(in[receives[t]].peer) : p;
    if (next_send <= next_receive) {
      const Range from = sent(sends[s]);
      writer.set_round(static_cast<std::uint32_t>(next_send));
      writer.send(out[sends[s++]].peer, {&from, 1});
    } else {
      const Range into = slot_of(recv_buffer, receives[t]);
      writer.set_round(static_cast<std::uint32_t>(next_receive));
      writer.receive(in[receives[t++]].peer, {&into, 1});
    }
  }
  return made;
}

}  // namespace circoll
