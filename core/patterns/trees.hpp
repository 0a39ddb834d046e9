// Trees along which blocks go down from a root, or are combined on their way up.
//
// A star (one rank talks to all others), a chain, binomial and k-nomial trees, and binary trees in level order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "circoll/builder.hpp"
#include "circoll/types.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {

/// Writes p - 1 rounds in which the root sends `data` to every other rank.
void linear_bcast(Builder& builder, const Region& data, Rank root);

/// Writes p - 1 rounds in which the root receives the contribution `from` of every other rank. It combines them in the
/// order of ranks into `to` (which is not read, and only written last). `to` matters at the root only.
void linear_reduce(Builder& builder, const Region& to, const Region& from, Rank root);

/// Writes the n + p - 2 rounds of n segments through p > 1 ranks, seen from the v-th of them. Segment s leaves it in
/// round v + s, while s + 1 arrives. Callbacks send(s) and recv(s) write the two; the first rank gets nothing, the
/// last sends nothing.
template <class Send, class Recv>
void through_chain(Builder& builder, Rank v, std::int64_t n, Send send, Recv recv) {
  const Rank p = builder.size();
  for (std::int64_t round = 0; round < n + p - 2; ++round) {
    const std::int64_t out = round - v;
    const std::int64_t in = out + 1;
    if (v < p - 1 && out >= 0 && out < n) send(out);
    if (v > 0 && in >= 0 && in < n) recv(in);
    builder.next_round();
  }
}

/// Writes ceil(log2 p) rounds in which `data` goes from the root to all ranks, the longest edges first.
void binomial_bcast(Builder& builder, const Region& data, Rank root);

/// Writes ceil(log2 p) rounds in which block i of `all` (p blocks) goes from the root to rank i. Every rank
/// keeps what passes through it.
void binomial_scatter(Builder& builder, const Region& all, Rank root);

/// The most blocks that a rank but the root receives in a binomial scatter, or sends in a binomial gather.
[[nodiscard]] std::int64_t binomial_most(Rank p);

/// Cost and path of a gather in ceil(log2 p) rounds up a tree. A rank but the root sends `most` blocks at most.
[[nodiscard]] Cost tree_gather_cost(const Shape& shape, std::int64_t most);
[[nodiscard]] CriticalPath tree_gather_path(const Shape& shape);

/// The parameter of the algorithms that are a k-nomial tree.
inline constexpr ParamDeclaration radix{
    .name = "radix", .minimum = 2, .maximum = 1 << 20, .fallback = 4, .summary = "base of the digits of a rank"};
/// The same for algorithms that have another name where the base is 2.
inline constexpr ParamDeclaration radix_above_two{
    .name = "radix", .minimum = 3, .maximum = 1 << 20, .fallback = 4, .summary = "base of the digits, above 2"};

/// The k-nomial tree of ranks 0 .. size - 1 with root 0, in digits of base radix. A round is a pair (weight, step) with
/// step = j * weight, weight a power of the radix, 0 < j < radix. In it rank v + step is the child of v, where v has
/// zeros up to the digit of the weight. Its subtree are the `weight` ranks from v + step on, or those of them that
/// exist.
class KnomialTree {
 public:
  KnomialTree(Rank size, std::int64_t radix) : size_(size), radix_(radix) {}

  /// Calls round(weight, step) for all rounds, leaves first: weights ascending, their steps ascending.
  template <class Round>
  void each_round_up(Round round) const {
    for (Rank weight = 1; weight < size_; weight *= radix_) each_step(weight, round);
  }
  /// The same, the root's largest subtrees first: weights descending, their steps ascending.
  template <class Round>
  void each_round_down(Round round) const {
    Rank weight = 1;
    while (weight <= (size_ - 1) / radix_) weight *= radix_;
    for (; weight > 0; weight /= radix_) each_step(weight, round);
  }
  [[nodiscard]] std::int64_t rounds() const {
    std::int64_t rounds = 0;
    for (Rank weight = 1; weight < size_; weight *= radix_) {
      rounds += std::min(radix_, (size_ + weight - 1) / weight) - 1;
    }
    return rounds;
  }

  /// The most digits of a rank that are not 0, which is the way from the root to it. It is that of 1, 11, 111 and so
  /// on.
  [[nodiscard]] std::int64_t levels() const {
    std::int64_t levels = 0;
    for (Rank ones = 1; ones < size_; ones = ones * radix_ + 1) ++levels;
    return levels;
  }

  /// Parents of rounds of a weight are the multiples of the next one.
  [[nodiscard]] Rank next_weight(Rank weight) const { return weight * radix_; }
  [[nodiscard]] bool is_parent(Rank v, Rank weight, Rank step) const {
    return v % next_weight(weight) == 0 && v + step < size_;
  }
  [[nodiscard]] bool is_child(Rank v, Rank weight, Rank step) const {
    return v >= step && (v - step) % next_weight(weight) == 0;
  }
  /// The weight of the round in which v > 0 is a child: the largest power of the radix dividing v.
  [[nodiscard]] Rank weight_of(Rank v) const {
    Rank weight = 1;
    while (v % next_weight(weight) == 0) weight = next_weight(weight);
    return weight;
  }

 private:
  template <class Round>
  void each_step(Rank weight, Round& round) const {
    for (Rank step = weight; step < next_weight(weight) && step < size_; step += weight) round(weight, step);
  }

  Rank size_;
  std::int64_t radix_;
};

/// The levels of the k-nomial tree of all ranks (CriticalPath::levels).
[[nodiscard]] inline std::int64_t knomial_levels(const Shape& shape) {
  return KnomialTree(shape.size, value_of(shape, radix)).levels();
}
[[nodiscard]] inline std::int64_t twice_knomial_levels(const Shape& shape) { return 2 * knomial_levels(shape); }

/// Algorithm::on_ports of a bcast down the k-nomial tree of all ranks, and of the reduce that is its reversal.
[[nodiscard]] RoundsOnPorts knomial_bcast_on_ports(const Shape& shape, std::int64_t ports);
[[nodiscard]] RoundsOnPorts knomial_reduce_on_ports(const Shape& shape, std::int64_t ports);
/// The messages of the reduce that a rank has in memory before it combines them.
[[nodiscard]] constexpr std::int64_t knomial_memory(std::int64_t radix) { return std::min<std::int64_t>(radix, 8); }

/// Writes a reduce among `size` ranks in a row, of which the builder's is the v-th. The first of them gets the
/// result in `to`, which it writes only at the end. At the others `to` does not matter. `tree` may be that of more
/// ranks. A rank combines its children in their order, which is that of ranks. So it serves any associative operator.
void reduce_in_order(Builder& builder, const Region& to, const KnomialTree& tree, Rank v, Rank size);

/// Rounds from node 1 of a binary tree to a node. Nodes are numbered 1, 2, ..., the children of i are 2i and 2i + 1. A
/// node that gets a segment in round t sends it on to its first child in round t + 1, and to its second in round t + 2.
[[nodiscard]] constexpr std::int64_t heap_delay(std::int64_t node) {
  const auto i = static_cast<std::uint64_t>(node);
  return static_cast<std::int64_t>(std::bit_width(i)) + std::popcount(i) - 2;
}

/// The largest delay in a binary tree of `nodes` >= 1 nodes.
[[nodiscard]] constexpr std::int64_t heap_height(std::int64_t nodes) {
  // The candidates: the last node, and those that have a 0 where it has a 1, and only 1s after that.
  std::int64_t most = heap_delay(nodes);
  for (int k = 0; k < 63 && (std::int64_t{1} << k) <= nodes; ++k) {
    const std::int64_t bit = std::int64_t{1} << k;
    if ((nodes & bit) == 0) continue;
    const std::int64_t candidate = (nodes & ~bit) | (bit - 1);
    if (candidate > 0 && heap_delay(candidate) > most) most = heap_delay(candidate);
  }
  return most;
}

/// The segment that goes over an edge in a round, or -1 if there is none. Segment s of n goes over it in round start +
/// s * period.
[[nodiscard]] constexpr std::int64_t segment_in(std::int64_t round, std::int64_t start, std::int64_t period,
                                                std::int64_t n) {
  const std::int64_t since = round - start;
  return since >= 0 && since % period == 0 && since / period < n ? since / period : -1;
}

}  // namespace circoll::patterns
