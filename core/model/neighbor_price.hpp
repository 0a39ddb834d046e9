// The predicted time of a neighbourhood collective on nodes: what its messages cost the ranks, and the links.
#pragma once

#include <algorithm>
#include <span>

#include "circoll/model.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// The cost of the messages of a node's ranks.
struct NeighborWork {
  double most_s = 0;         ///< the rank that works longest
  double all_s = 0;          ///< all ranks together
  double bytes_between = 0;  ///< sent to other nodes

  void add(const NeighborWork& rank) {
    most_s = std::max(most_s, rank.most_s);
    all_s += rank.all_s;
    bytes_between += rank.bytes_between;
  }
};
/// The part of one rank. bytes[b] are those of user block b, and node_of[r] is the node of rank r.
[[nodiscard]] NeighborWork work_of(const Schedule& schedule, std::span<const Count> bytes,
                                   std::span<const Rank> node_of, const Machine& machine);
/// The time of a node's ranks [s]. They work, their bytes pass the node's link, and a block travels, with so many
/// `hops` inside nodes. On a `crowded` node ranks work one after another.
[[nodiscard]] double seconds(const NeighborWork& node, int hops, const Machine& machine, bool crowded);

}  // namespace circoll
