// Relabelling assigns the parts of a schedule to other ranks. Written once, for all algorithms.
//
// An algorithm numbers its ranks 0 .. p-1 and favours certain distances between them. The numbering decides which of
// these distances stay inside a node. With label = core * nodes + node every distance that is a multiple of the number
// of nodes does, and a flat schedule becomes a hierarchical one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// A permutation of the ranks: rank r plays the part of rank label(r).
class Relabelling {
 public:
  /// labels[r] is the label of rank r. Throws Error(invalid_argument) unless each of 0 .. p-1 is one.
  explicit Relabelling(std::vector<Rank> labels);

  /// Labels the ranks across nodes. The ranks that come first on their nodes get the first labels, in the order of
  /// nodes, then the second ranks of all nodes, and so on. Nodes with fewer ranks drop out early. Here p ranks lie on
  /// nodes of `cores`, numbered node by node, the last node taking what remains: label = core * nodes + node if it is
  /// full. 1 <= cores.
  static Relabelling across_nodes(Rank p, Rank cores);
  /// The same for any placement: node_of[r] is any number that names the node of rank r. Nodes are in the order of
  /// their first ranks.
  static Relabelling across_nodes(std::span<const Rank> node_of);
  [[nodiscard]] Rank size() const { return static_cast<Rank>(labels_.size()); }  ///< of ranks, and of labels
  [[nodiscard]] Rank label(Rank rank) const { return labels_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Rank rank(Rank label) const { return ranks_[static_cast<std::size_t>(label)]; }

  friend bool operator==(const Relabelling&, const Relabelling&) = default;

 private:
  std::vector<Rank> labels_;
  std::vector<Rank> ranks_;
};

/// Labels that number the ranks node by node, on nodes of `cores` each, for algorithms that go through nodes.
struct NodeByNode {
  Relabelling labels;
  Rank cores = 1;
  /// Messages inside a group that may pass a node's port in one round. 0: each group lies on one node.
  Rank split = 0;
};

/// Labels for nodes with any numbers of ranks. If all nodes have `cores` ranks, or one has fewer, they are the nodes of
/// the labels, the smallest one last. Otherwise each node gives as many full groups of `cores` ranks as it can, and the
/// ranks that are left fill the last groups. `cores` is the size of one of the nodes. It leads to few groups, and to
/// few ranks in a group of another node. Nothing if these are a quarter of all or more, or if each node has one rank.
/// O(p + nodes log nodes) for each size that nodes have.
[[nodiscard]] std::optional<NodeByNode> node_by_node(std::span<const Rank> node_of);

/// Labels by the levels of the machine above the nodes of a placement (prepare/level_labels.hpp).
class LevelLabels;

/// The placement of a communicator's ranks, as far as algorithms care.
struct Placement {
  Rank cores = 1;        ///< ranks on a node; the most of any
  Rank nodes = 0;        ///< on which there are ranks; 0: as many as p ranks fill, `cores` on each
  bool crowded = false;  ///< one of all nodes has more ranks than processors
  /// Labels go across the nodes. Without them, nodes have `cores` ranks each, numbered node by node (the last may
  /// have fewer).
  std::shared_ptr<const Relabelling> labels{};
  /// Labels by which groups of `group` ranks are numbered so, where `labels` are needed and node_by_node has any.
  std::shared_ptr<const Relabelling> in_order{};
  Rank group = 0;        ///< ranks of a group. Nearly all groups lie on one node each. 0: there are no such labels
  Rank group_split = 0;  ///< NodeByNode::split
  /// The node of each rank, numbered in the order of their first ranks; nothing where it is not known.
  std::shared_ptr<const std::vector<Rank>> node_of{};
  /// Nothing where no level above the nodes is known.
  std::shared_ptr<LevelLabels> levels{};

  /// True if two ranks are known to be on one node.
  [[nodiscard]] bool together(Rank a, Rank b) const {
    return node_of != nullptr && (*node_of)[static_cast<std::size_t>(a)] == (*node_of)[static_cast<std::size_t>(b)];
  }
};
/// node_of as for Relabelling::across_nodes.
[[nodiscard]] Placement placement_of(std::span<const Rank> node_of);

/// True if ranks may be relabelled, which scan and exscan exclude: their results depend on the order of ranks. A
/// reduction must commute.
[[nodiscard]] bool can_relabel(Collective collective);

/// Relabels the schedule of rank v, so that it is the one of rank labels.rank(v). Peers are translated. Where the
/// collective names one block per rank, blocks are translated too. The caller's buffers keep MPI's order of blocks, so
/// that a range of such blocks becomes as many pieces as it has. Scratch keeps the order of labels. Rounds, volumes and
/// dependencies stay. O(steps + slots). Throws Error(invalid_argument) if the sizes differ, and Error(unsupported)
/// unless can_relabel.
[[nodiscard]] Schedule relabelled(const Schedule& schedule, const Relabelling& labels);

}  // namespace circoll
