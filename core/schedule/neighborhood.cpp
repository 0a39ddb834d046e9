#include "schedule/neighborhood.hpp"

#include <algorithm>
#include <numeric>

#include "circoll/error.hpp"

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

/// Writes the steps of a schedule whose buffers are there.
class DirectWriter {
 public:
  DirectWriter(Schedule& schedule, std::size_t window) : schedule_(schedule), window_(window) {}

  void copy(Slot from, Slot to) {
    add({.kind = StepKind::copy, .dst = slot(recv_buffer, to), .left = slot(send_buffer, from)});
  }
  void send(Rank to, Slot from, std::uint32_t round) {
    add({.kind = StepKind::send, .round = round, .peer = to, .left = slot(send_buffer, from)});
    await(sends_);
  }
  void receive(Rank from, Slot to, std::uint32_t round) {
    add({.kind = StepKind::recv, .round = round, .peer = from, .dst = slot(recv_buffer, to)});
    await(receives_);
  }

 private:
  Operand slot(std::int32_t buffer, Slot slot) {
    const auto offset = static_cast<std::uint32_t>(schedule_.ranges.size());
    schedule_.ranges.push_back({.buffer = buffer, .first = slot, .count = 1});
    return {.offset = offset, .length = 1};
  }
  void add(const Step& step) { schedule_.steps.push_back(step); }
  /// Makes the last step wait for earlier ones of its direction. One is a window before it. Another one is the message
  /// of its peer that has the same tag.
  void await(std::vector<StepIndex>& steps) {
    const auto last = static_cast<StepIndex>(schedule_.steps.size() - 1);
    const std::size_t before = steps.size();
    if (before >= window_) schedule_.edges.emplace_back(steps[before - window_], last);
    // Messages of one peer follow one another.
    constexpr std::size_t tags = neighbor_tags;
    if (before >= tags && schedule_.steps[steps[before - tags]].peer == schedule_.steps[last].peer && tags != window_)
      schedule_.edges.emplace_back(steps[before - tags], last);
    steps.push_back(last);
  }

  Schedule& schedule_;
  std::size_t window_;
  std::vector<StepIndex> sends_;
  std::vector<StepIndex> receives_;
};

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
  made.buffers = {
      {.slots = static_cast<Slot>(blocks.sent.size()), .list = blocks.sent, .storage = send_buffer},
      {.slots = static_cast<Slot>(blocks.received.size()), .list = blocks.received, .storage = recv_buffer}};
  const auto to = [p = p, r = r](Rank peer) { return (peer - r + p) % p; };
  const auto from = [p = p, r = r](Rank peer) { return (r - peer + p) % p; };
  const std::vector<std::size_t> sends = by_distance(out, to);
  const std::vector<std::size_t> receives = by_distance(in, from);
  const auto sent_slot = [&](std::size_t edge) { return gathers ? Slot{0} : static_cast<Slot>(edge); };
  DirectWriter writer(made, window);
  std::size_t s = 0, t = 0;
  for (; s < sends.size() && out[sends[s]].peer == r; ++s, ++t) {
    require(t < receives.size() && in[receives[t]].peer == r, "an edge from a rank to itself has two ends");
    writer.copy(sent_slot(sends[s]), static_cast<Slot>(receives[t]));
  }
  require(t == receives.size() || in[receives[t]].peer != r, "an edge from a rank to itself has two ends");
  while (s < sends.size() || t < receives.size()) {
    const Rank next_send = s < sends.size() ? to(out[sends[s]].peer) : p;
    const Rank next_receive = t < receives.size() ? from(in[receives[t]].peer) : p;
    if (next_send <= next_receive) {
      const std::size_t edge = sends[s++];
      writer.send(out[edge].peer, sent_slot(edge), static_cast<std::uint32_t>(next_send));
    } else {
      const std::size_t edge = receives[t++];
      writer.receive(in[edge].peer, static_cast<Slot>(edge), static_cast<std::uint32_t>(next_receive));
    }
  }
  return made;
}

}  // namespace circoll
