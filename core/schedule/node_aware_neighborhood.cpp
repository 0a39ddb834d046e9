#include "schedule/node_aware_neighborhood.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "schedule/neighbor_writer.hpp"

namespace circoll {
namespace {

/// An edge between two nodes, as the end in this node knows it.
struct Path {
  Rank from = 0;
  Rank to = 0;
  Range slot{};           ///< in the caller's buffer at that end
  Block name = 0;         ///< of what lies there
  std::size_t block = 0;  ///< of the parcel
};

/// All that passes from one node to another one. A block of an allgather may have several paths.
struct Parcel {
  std::vector<Path> paths{};    ///< by source and destination; edges of two ranks keep their order
  std::vector<Path> blocks{};   ///< the first path of each
  std::vector<Range> places{};  ///< of the blocks, at a rank that carries them
  Rank sender = -1;             ///< the rank that gathers
  Rank receiver = -1;           ///< the rank that hands on

  void complete(Rank distance, NeighborContract contract) {
    std::ranges::stable_sort(paths, {}, [](const Path& path) { return std::pair(path.from, path.to); });
    for (Path& path : paths) {
      const bool known = contract == NeighborContract::allgather && !blocks.empty() && blocks.back().from == path.from;
      path.block = blocks.size() - (known ? 1 : 0);
      if (!known) blocks.push_back(path);
    }
    const auto turn = [&](const std::vector<Rank>& ranks) {
      return ranks[static_cast<std::size_t>(distance) % ranks.size()];
    };
    sender = turn(ends(&Path::from));
    receiver = turn(ends(&Path::to));
  }
  /// The ranks at one end, each once, in ascending order.
  [[nodiscard]] std::vector<Rank> ends(Rank Path::*end) const {
    std::set<Rank> found;
    for (const Path& path : paths) found.insert(path.*end);
    return {found.begin(), found.end()};
  }
};
/// By the distance from the sending to the receiving node.
using Parcels = std::map<Rank, Parcel>;

Parcels parcels_of(const NodeNeighborhood& node, NeighborContract contract, bool out) {
  const auto node_of = [&](Rank rank) { return node.node_of[static_cast<std::size_t>(rank)]; };
  const Rank here = node_of(node.members[node.own].rank), nodes = *std::ranges::max_element(node.node_of) + 1;
  Parcels made;
  for (std::size_t m = 0; m < node.members.size(); ++m) {
    const Neighborhood& member = node.members[m];
    const std::vector<NeighborEdge>& edges = out ? member.out : member.in;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const Rank peer = edges[e].peer, there = node_of(peer);
      if (there == here) continue;
      const std::size_t slot = out && contract == NeighborContract::allgather ? 0 : e;
      made[((out ? there - here : here - there) + nodes) % nodes].paths.push_back(
          {.from = out ? member.rank : peer,
           .to = out ? peer : member.rank,
           .slot = slot_of(out ? send_buffer : recv_buffer, slot),
           .name = (out ? node.names[m].sent : node.names[m].received)[slot]});
    }
  }
  for (auto& [distance, parcel] : made) parcel.complete(distance, contract);
  return made;
}

class NodeAwareWriter {
 public:
  NodeAwareWriter(Schedule& schedule, std::size_t window)
      : schedule_(schedule), own_(schedule.shape.rank), writer_(schedule, window) {}

  /// To the rank that sends the parcel.
  void gather(Parcel& parcel) {
    if (carries(parcel.sender)) {
      for (const Path& block : parcel.blocks)
        parcel.places.push_back(block.from == own_ ? block.slot : scratch(block.name));
    }
    for (const Rank source : parcel.ends(&Path::from)) {
      if (source == parcel.sender || (source != own_ && !carries(parcel.sender))) continue;
      std::vector<Range> ranges;
      for (const Path& block : parcel.blocks) {
        if (block.from == source) ranges.push_back(source == own_ ? block.slot : parcel.places[block.block]);
      }
      if (source == own_) {
        writer_.send(parcel.sender, ranges, false);
      } else {
        writer_.receive(source, ranges, false);
      }
    }
  }

  /// Between the nodes, in the order of distances.
  void cross(Parcels& out, Parcels& in) {
    writer_.set_round(1);
    for (auto s = out.begin(), t = in.begin(); s != out.end() || t != in.end();) {
      if (t == in.end() || (s != out.end() && s->first <= t->first)) {
        const Parcel& parcel = s++->second;
        if (carries(parcel.sender)) writer_.send(parcel.receiver, parcel.places);
      } else {
        receive(t++->second);
      }
    }
  }

  /// The edges inside the node.
  void stay(const Neighborhood& neighborhood, NeighborContract contract, std::span<const Rank> node_of) {
    const auto is_near = [&](Rank peer) {
      return node_of[static_cast<std::size_t>(peer)] == node_of[static_cast<std::size_t>(own_)];
    };
    std::vector<Range> to_itself;
    for (std::size_t e = 0; e < neighborhood.out.size(); ++e) {
      const Rank peer = neighborhood.out[e].peer;
      const Range from = slot_of(send_buffer, contract == NeighborContract::allgather ? 0 : e);
      if (peer == own_) {
        to_itself.push_back(from);
      } else if (is_near(peer)) {
        writer_.send(peer, {&from, 1}, false);
      }
    }
    std::size_t copied = 0;
    for (std::size_t e = 0; e < neighborhood.in.size(); ++e) {
      const Rank peer = neighborhood.in[e].peer;
      const Range into = slot_of(recv_buffer, e);
      if (peer == own_) {
        require(copied < to_itself.size(), "an edge from a rank to itself has two ends");
        writer_.copy(to_itself[copied++], into);
      } else if (is_near(peer)) {
        writer_.receive(peer, {&into, 1}, false);
      }
    }
    require(copied == to_itself.size(), "an edge from a rank to itself has two ends");
  }

  /// From the rank that has received the parcel.
  void hand_on(const Parcel& parcel) {
    writer_.set_round(2);
    for (const Rank target : parcel.ends(&Path::to)) {
      if (target != own_ && !carries(parcel.receiver)) continue;
      std::vector<Range> ranges;
      std::vector<std::pair<Range, Range>> again;  // further edges from the same rank
      for (std::size_t i = 0, last = 0; i < parcel.paths.size(); ++i) {
        const Path& path = parcel.paths[i];
        if (path.to != target) continue;
        const bool known = !ranges.empty() && parcel.paths[last].block == path.block;
        if (known && target == own_) again.emplace_back(ranges.back(), path.slot);
        if (known) continue;
        ranges.push_back(carries(parcel.receiver) ? parcel.places[path.block] : path.slot);
        last = i;
      }
      if (target != own_) {
        writer_.send(target, ranges, false);
      } else if (!carries(parcel.receiver)) {
        writer_.receive(parcel.receiver, ranges, false);
      }
      for (const auto& [from, to] : again) writer_.copy(from, to);
    }
  }

  void end() {
    if (scratch_.empty()) return;
    schedule_.buffers.push_back(
        {.slots = static_cast<Slot>(scratch_.size()), .list = std::move(scratch_), .storage = first_scratch_buffer});
  }

 private:
  [[nodiscard]] bool carries(Rank carrier) const { return carrier == own_; }
  /// A place for a block of another rank of this node.
  [[nodiscard]] Range scratch(Block name) {
    scratch_.push_back(name);
    return slot_of(first_scratch_buffer, scratch_.size() - 1);
  }
  void receive(Parcel& parcel) {
    if (!carries(parcel.receiver)) return;
    constexpr std::int32_t none = -1;
    parcel.places.assign(parcel.blocks.size(), {.buffer = none});
    for (const Path& path : parcel.paths) {
      Range& place = parcel.places[path.block];
      if (path.to == own_ && place.buffer == none) place = path.slot;
    }
    for (std::size_t b = 0; b < parcel.blocks.size(); ++b) {
      if (parcel.places[b].buffer == none) parcel.places[b] = scratch(parcel.blocks[b].name);
    }
    writer_.receive(parcel.sender, parcel.places);
  }

  Schedule& schedule_;
  Rank own_;
  NeighborWriter writer_;
  std::vector<Block> scratch_;
};

}  // namespace

Schedule build_neighbor_node_aware(const NodeNeighborhood& node, NeighborContract contract, std::size_t window) {
  require(window >= 1, "a window has at least one message");
  const Neighborhood& own = node.members[node.own];
  const bool gathers = contract == NeighborContract::allgather;
  Schedule made{.id = gathers ? "neighbor_allgather/node_aware" : "neighbor_alltoall/node_aware",
                .collective = Collective::alltoall,
                .shape = {.size = own.size, .rank = own.rank},
                .user_blocks = node.names[node.own].blocks,
                .rounds = 3,
                .buffers = caller_buffers(node.names[node.own])};
  Parcels out = parcels_of(node, contract, true), in = parcels_of(node, contract, false);
  NodeAwareWriter writer(made, window);
  for (auto& [distance, parcel] : out) writer.gather(parcel);
  writer.cross(out, in);
  writer.stay(own, contract, node.node_of);
  for (const auto& [distance, parcel] : in) writer.hand_on(parcel);
  writer.end();
  return made;
}

}  // namespace circoll
