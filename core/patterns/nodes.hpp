// Ranks on nodes, the leaders that speak for them, and an allreduce by the leaders.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {

inline constexpr ParamDeclaration cores{
    .name = "cores", .minimum = 1, .maximum = 1 << 20, .fallback = 4, .summary = "ranks on each node"};

/// p ranks, numbered node by node, `cores` on each. The last node takes the rest. A node is led by its first rank, or
/// by the root if that is one of its ranks.
class Nodes {
 public:
  Nodes(Rank p, Rank root, Rank cores) : p_(p), root_(root), cores_(std::min(cores, p)) {}
  explicit Nodes(const Builder& b) : Nodes(b.size(), b.root(), b.param(cores.name, cores.fallback)) {}
  explicit Nodes(const Shape& shape) : Nodes(shape.size, shape.root, value_of(shape, cores)) {}

  [[nodiscard]] Rank count() const { return (p_ + cores_ - 1) / cores_; }
  [[nodiscard]] Rank node_of(Rank rank) const { return rank / cores_; }
  [[nodiscard]] Rank begin(Rank node) const { return node * cores_; }
  [[nodiscard]] Rank size(Rank node) const { return std::min(cores_, p_ - begin(node)); }
  /// Ranks on every node but perhaps the last.
  [[nodiscard]] Rank full_size() const { return cores_; }
  /// Ranks on `count` nodes in a row, the first node after the last; count <= number of nodes.
  [[nodiscard]] Rank ranks_on(Rank first, Rank count) const {
    const bool last_too = count > this->count() - 1 - first;
    return count * cores_ - (last_too ? cores_ - size(this->count() - 1) : 0);
  }
  [[nodiscard]] Rank leader(Rank node) const { return node == node_of(root_) ? root_ : begin(node); }

  [[nodiscard]] std::vector<Rank> members(Rank node) const {
    std::vector<Rank> ranks(static_cast<std::size_t>(size(node)));
    std::iota(ranks.begin(), ranks.end(), begin(node));
    return ranks;
  }
  [[nodiscard]] std::vector<Rank> leaders() const {
    std::vector<Rank> ranks(static_cast<std::size_t>(count()));
    for (Rank node = 0; node < count(); ++node) ranks[static_cast<std::size_t>(node)] = leader(node);
    return ranks;
  }

 private:
  Rank p_;
  Rank root_;
  Rank cores_;
};

/// The shape of a part among the leaders, seen by one of them; the root's node is the root.
[[nodiscard]] inline Shape among_leaders(const Builder& b, const Nodes& nodes) {
  Shape shape = part_shape(b);
  shape.size = nodes.count();
  shape.rank = nodes.node_of(b.rank());
  shape.root = nodes.node_of(b.root());
  return shape;
}

/// The shape of a part inside this rank's node; the leader is the root.
[[nodiscard]] inline Shape inside_node(const Builder& b, const Nodes& nodes) {
  const Rank node = nodes.node_of(b.rank());
  Shape shape = part_shape(b);
  shape.size = nodes.size(node);
  shape.rank = b.rank() - nodes.begin(node);
  shape.root = nodes.leader(node) - nodes.begin(node);
  return shape;
}

/// The parameter of the trees inside nodes, in which a rank has radix - 1 children per level.
inline constexpr ParamDeclaration inner_radix{.name = "radix",
                                              .minimum = 2,
                                              .maximum = 1 << 20,
                                              .fallback = 2,
                                              .summary = "base of the digits of a rank in the trees inside nodes"};

/// Writes an allreduce of nodes and their leaders. Every node combines its contributions at its leader, in rank order.
/// The leaders run the allreduce `between`, in place. Each leader spreads the result on its node. Parameters: cores,
/// inner_radix.
void allreduce_by_leaders(Builder& builder, const char* between);
[[nodiscard]] Cost cost_by_leaders(const char* between, const Shape& shape);
[[nodiscard]] CriticalPath path_by_leaders(const char* between, const Shape& shape);

}  // namespace circoll::patterns
