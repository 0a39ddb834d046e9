// Traffic of an algorithm inside nodes and between them, for the cost model of ranks that share nodes.
#pragma once

#include <vector>

#include "circoll/model.hpp"

namespace circoll {

/// The messages of a schedule, round by round, for p ranks on nodes of `cores`, numbered node by node. A node has one
/// port, which its ranks share.
struct Traffic {
  /// The longest message, in parts of the vector (CriticalPath::blocks of them). -1: no message at all.
  struct Round {
    double inside = -1;  ///< the longest message between two ranks of a node
    double across = -1;  ///< the most that leaves, or enters, one node
  };
  double blocks = 1;            ///< parts that a rank's vector has: the unit of volumes
  std::vector<Round> rounds{};  ///< one after another
  double combined = 0;          ///< parts: the most that a rank combines in each round, summed up
  double shared = 0;            ///< parts: the time at nodes' ports that messages lose which share them (sharing.hpp)
};

/// The traffic of a selection, counted from the schedules of all ranks of three nodes. These are the first, one in the
/// middle, and the last, relabelled if the selection is. O(cores) schedules are built, or one if the others are its
/// rotations. Throws as build_schedule does.
[[nodiscard]] Traffic traffic_of(const Selection& selection, Rank p, Rank cores, Rank root = 0);

/// The same where groups of ranks are not the nodes. So many of them share the port of a node. In each round `split` of
/// the messages inside a group pass a port, too (NodeByNode::split). Their latency does not count. In a tree it is that
/// of one or two rounds, and in an exchange these messages do not wait for one another.
[[nodiscard]] Traffic on_groups(Traffic traffic, Rank groups_on_node, Rank split);

/// The time [s] of this traffic for a vector of `bytes` (terms_of). A round takes as long as its slower part: a message
/// inside a node node_alpha_s + b node_beta_s_per_byte, what crosses a node's port alpha_s + b beta_s_per_byte.
[[nodiscard]] double seconds(const Traffic& traffic, Count bytes, const Machine& machine);

}  // namespace circoll
