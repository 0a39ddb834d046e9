// Two binary trees of all ranks but the root, in which each rank sends and receives in opposite rounds.
#pragma once

#include <cstdint>

#include "patterns/butterfly.hpp"

namespace circoll::patterns {

/// Two trees, 0 and 1, of the ranks v = 1 to p - 1, which are relative to the root. Node i has the children 2i and
/// 2i + 1, and node 1 has the root above it. A rank that has children in one tree has none in the other.
///
/// The edge above a node carries segments in every other round. It is late if the node is odd, else early. A rank's two
/// nodes differ in that, and so do two siblings. So a rank sends and receives once in each round at most. There are two
/// exceptions: node 1 of tree 1 is early, and an even last node, which has no sibling, is late in tree 0.
class DoubleTree {
 public:
  /// Precondition: p >= 2
  explicit constexpr DoubleTree(Rank p)
      : last_(p - 1),
        inner_((p - 1) / 2),
        shift_(inner_ % 2 != 0 ? inner_ : inner_ + 1),
        leaf_in_both_(inner_ % 2 != 0 ? last_ : shift_) {}

  [[nodiscard]] constexpr Rank last() const { return last_; }    ///< the last node of each tree
  [[nodiscard]] constexpr Rank inner() const { return inner_; }  ///< the last node that has children

  /// The node of rank v in a tree. Tree 1 has tree 0 backwards if there is an even number of nodes. Otherwise it has
  /// the halves of tree 0 exchanged, but for the leaf that has no inner node to exchange with.
  [[nodiscard]] constexpr Rank node_of(int tree, Rank v) const {
    if (tree == 0) return v;
    if (last_ % 2 == 0) return last_ + 1 - v;
    if (v == leaf_in_both_) return 1;
    if (v == shift_ + 1) return leaf_in_both_;
    return v <= inner_ ? v + shift_ : v - shift_;
  }
  /// The rank v at a node of a tree.
  [[nodiscard]] constexpr Rank rank_at(int tree, Rank node) const {
    if (tree == 0) return node;
    if (last_ % 2 == 0) return last_ + 1 - node;
    if (node == 1) return leaf_in_both_;
    if (node == leaf_in_both_) return shift_ + 1;
    return node <= inner_ ? node + shift_ : node - shift_;
  }
  /// The round in which the first segment comes to a node. The others follow every second round.
  [[nodiscard]] constexpr std::int64_t start(int tree, Rank node) const {
    const std::int64_t depth = floor_log2(node);
    const bool late = node == 1 || (last_ % 2 == 0 && node == last_) ? tree == 0 : node % 2 != 0;
    return 2 * depth + (late ? 1 : 0);
  }
  /// Rounds of n segments in each tree.
  [[nodiscard]] constexpr std::int64_t rounds(std::int64_t n) const { return 2 * (n + floor_log2(last_)); }

  /// The rounds in which some rank both sends and receives. O(log p): ranks of a level differ only in whether their
  /// nodes are odd, on which level the other tree has them, and whether they have a second child.
  [[nodiscard]] std::int64_t two_way_rounds(std::int64_t n) const;

 private:
  Rank last_;
  Rank inner_;
  Rank shift_;         // odd, so that a shifted node is late where the other one is early
  Rank leaf_in_both_;  // of an odd number of nodes
};

}  // namespace circoll::patterns
