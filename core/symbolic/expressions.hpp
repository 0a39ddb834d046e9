// Symbolic values: which contributions are combined, in which order and association.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/schedule.hpp"

namespace circoll::symbolic {

using Value = std::uint32_t;
inline constexpr Value undefined = 0;

/// An expression is a leaf (the contribution of one rank to one block) or a node, left op right. Nodes are appended,
/// never compared while the schedules run. Hash-consing finds equal expressions afterwards, and only where two results
/// are not one and the same value.
class Expressions {
 public:
  /// Leaves: `sources` contributions to each of `blocks` blocks.
  Expressions(std::int64_t sources, Block blocks) : sources_(sources), blocks_(blocks) {
    if (blocks > std::numeric_limits<std::int32_t>::max() / sources) {
      throw Error(ErrorCode::unsupported, "too many contributions to verify (over 2^31)");
    }
    first_node_ = static_cast<Value>(1 + sources * blocks);
  }

  [[nodiscard]] Value leaf(std::int64_t source, Block block) const {
    return static_cast<Value>(1 + source * blocks_ + block);
  }
  [[nodiscard]] bool is_leaf(Value v) const { return v < first_node_; }
  [[nodiscard]] std::int64_t source_of(Value leaf) const { return (leaf - 1) / blocks_; }

  Value combine(Value left, Value right) {
    if (nodes_.size() >= std::numeric_limits<Value>::max() - first_node_) {
      throw Error(ErrorCode::unsupported, "too many combinations to verify (over 2^32)");
    }
    const Sources a = sources_of(left);
    const Sources b = sources_of(right);
    const std::uint64_t leaves = std::uint64_t{a.leaves} + b.leaves;
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    Sources sum{.begin = 0, .leaves = static_cast<std::uint32_t>(leaves < most ? leaves : most), .order = Order::any};
    if (leaves <= static_cast<std::uint64_t>(sources_) && a.order != Order::any && b.order != Order::any) {
      if (end_of(a) == b.begin) {
        sum.begin = a.begin;
        sum.order = a.order == Order::ascending ? b.order : Order::interval;
      } else if (end_of(b) == a.begin) {
        sum.begin = b.begin;
        sum.order = Order::interval;
      }
    }
    nodes_.push_back({left, right, sum});
    return static_cast<Value>(first_node_ + nodes_.size() - 1);
  }

  /// True if the leaves are known to be each source exactly once, without looking at them one by one. `ascending` tells
  /// if they are known to stand in the order 0, 1, 2, ...
  [[nodiscard]] bool is_complete(Value v, bool& ascending) const {
    const Sources s = sources_of(v);
    ascending = s.order == Order::ascending && s.begin == 0;
    return s.order != Order::any && s.leaves == static_cast<std::uint64_t>(sources_);
  }

  /// Calls f(left, right) for all nodes, operands before what is made of them.
  template <typename F>
  void each_node(F&& f) const {
    for (const Node& node : nodes_) f(node.left, node.right);
  }
  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  /// The operands of the node at a place in the order of each_node.
  [[nodiscard]] std::pair<Value, Value> operands(std::size_t node) const {
    return {nodes_[node].left, nodes_[node].right};
  }
  /// The place of an expression that is no leaf, in the order of each_node.
  [[nodiscard]] std::size_t node_of(Value v) const { return v - first_node_; }

  /// Number of leaves, counted with repetition.
  [[nodiscard]] std::uint32_t leaves_of(Value v) const { return sources_of(v).leaves; }

  /// Calls f(source) for the leaves from left to right; stops when f returns false, and returns false then.
  template <typename F>
  bool each_leaf(Value v, F&& f) {
    stack_.clear();
    stack_.push_back(v);
    while (!stack_.empty()) {
      const Value top = stack_.back();
      stack_.pop_back();
      if (is_leaf(top)) {
        if (!f(source_of(top))) return false;
        continue;
      }
      const Node& node = nodes_[top - first_node_];
      stack_.push_back(node.right);
      stack_.push_back(node.left);
    }
    return true;
  }

  /// The set of sources of an expression that may be a large directed acyclic graph: each node is visited
  /// once. `found` must have one entry per source.
  void mark_sources(Value v, std::vector<bool>& found);

  /// An expression with its sources as operands, "(0+1)+2". It ends in "..." after so many characters.
  [[nodiscard]] std::string text(Value v, std::size_t most_characters) const;

  /// Are two expressions the same, operand by operand? Takes time linear in the leaves.
  [[nodiscard]] bool identical(Value a, Value b);
  /// A number that two expressions share if and only if they are equal up to exchanging operands.
  Value canonical(Value v);

 private:
  /// Knowledge about the leaves of an expression. They are the `leaves` different sources from `begin` on, modulo the
  /// number of sources, perhaps in that very order. Many algorithms combine neighbours only; for the others the leaves
  /// are looked at.
  enum class Order : std::uint8_t { any, interval, ascending };
  struct Sources {
    std::uint32_t begin;
    std::uint32_t leaves;
    Order order;
  };
  struct Node {
    Value left;
    Value right;
    Sources sources;
  };
  [[nodiscard]] Sources sources_of(Value v) const {
    if (!is_leaf(v)) return nodes_[v - first_node_].sources;
    return {.begin = static_cast<std::uint32_t>(source_of(v)), .leaves = 1, .order = Order::ascending};
  }
  [[nodiscard]] std::uint32_t end_of(const Sources& s) const {
    const std::uint64_t end = std::uint64_t{s.begin} + s.leaves;
    return static_cast<std::uint32_t>(
        end >= static_cast<std::uint64_t>(sources_) ? end - static_cast<std::uint64_t>(sources_) : end);
  }
  [[nodiscard]] Value known(Value v) const { return is_leaf(v) ? v : canonical_[v - first_node_]; }

  std::int64_t sources_;
  Block blocks_;
  Value first_node_;
  std::vector<Node> nodes_;
  std::vector<Value> stack_;
  std::vector<Value> canonical_;
  std::vector<std::uint32_t> visited_;  // by mark_sources, in which call
  std::uint32_t visit_ = 0;
  std::unordered_map<std::uint64_t, Value> pairs_;  // (smaller, larger) canonical operands -> first such node
};

/// True if each rank contributes to every block: in reductions, and in the barrier, which is one of no bytes.
[[nodiscard]] inline bool contributes_to_all(Collective collective) {
  return is_reducing(collective) || collective == Collective::barrier;
}

/// The rank that contributes a block of a collective in which only one does.
[[nodiscard]] inline Rank contributor(const Schedule& s, Block block) {
  const Block user_block = block / s.segments;
  if (is_exchange(s.collective)) return user_block / s.shape.size;
  const bool from_root =
      s.collective == Collective::bcast || s.collective == Collective::scatter || s.collective == Collective::scatterv;
  return from_root ? s.shape.root : user_block;
}

}  // namespace circoll::symbolic
