// k-nomial trees: a rank has radix - 1 children per level.
#pragma once

#include <algorithm>

#include "circoll/builder.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {

/// The parameter of the algorithms that are such a tree.
inline constexpr ParamDeclaration radix{
    .name = "radix", .minimum = 2, .maximum = 1 << 20, .fallback = 4, .summary = "base of the digits of a rank"};

/// The tree of ranks 0 .. size - 1 with root 0, in digits of base radix. A round is a pair (weight, step), step = j *
/// weight, weight a power of the radix, 0 < j < radix: in it rank v + step is the child of v, where v has zeros up to
/// the digit of the weight. Its subtree are the `weight` ranks from v + step on, or those of them that there are.
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

  /// The most digits of a rank that are not 0: the way from the root to it. It is that of 1, 11, 111 and so on.
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

/// The levels of the tree of all ranks (CriticalPath::levels).
[[nodiscard]] inline std::int64_t knomial_levels(const Shape& shape) {
  return KnomialTree(shape.size, value_of(shape, radix)).levels();
}
[[nodiscard]] inline std::int64_t twice_knomial_levels(const Shape& shape) { return 2 * knomial_levels(shape); }

/// Writes a reduce among `size` ranks in a row, of which the builder's is the v-th. The result is in `to` of the first
/// of them (only written last; it does not matter at the others); `tree` may be that of more ranks. A rank combines its
/// children in their order, which is that of ranks: any associative operator.
void reduce_in_order(Builder& builder, const Region& to, const KnomialTree& tree, Rank v, Rank size);

}  // namespace circoll::patterns
