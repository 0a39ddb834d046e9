// Scratch for messages that arrive: a few in turn, or one of every rank.
#pragma once

#include <utility>
#include <vector>

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// A few places in turn, each for the blocks of one message. The next message can arrive while the last one is still
/// combined, or leaves again.
class Arrivals {
 public:
  /// All messages carry the blocks of `like`.
  Arrivals(Builder& builder, Region like) : b_(builder), like_(std::move(like)) {}
  /// Every message says what it carries.
  explicit Arrivals(Builder& builder) : b_(builder) {}

  [[nodiscard]] Region next() {
    const std::size_t turn = turn_++ % depth;
    if (turn >= buffers_.size()) buffers_.push_back(b_.scratch_like(like_));
    return b_.region(buffers_[turn]);
  }
  [[nodiscard]] Region next(const Region& like) {
    const std::size_t turn = turn_++ % depth;
    if (turn < buffers_.size()) return b_.region(b_.view_like(buffers_[turn], like));
    buffers_.push_back(b_.scratch_like(like));
    return b_.region(buffers_[turn]);
  }

 private:
  static constexpr std::size_t depth = 3;
  Builder& b_;
  Region like_;
  std::vector<std::int32_t> buffers_;
  std::size_t turn_ = 0;
};

/// The operands of one block, one of each rank, until they are combined. All ranks send theirs to one another directly,
/// so that no message waits for another.
class DirectOperands {
 public:
  /// Operands are of `block`. This rank's own lies at `own` and stays as it is.
  DirectOperands(Builder& builder, Block block, const Region& own)
      : DirectOperands(builder, block, own, builder.size()) {}
  /// Those of the ranks below `ranks` only. Precondition: all ranks below this one are among them.
  DirectOperands(Builder& builder, Block block, Region own, Rank ranks)
      : b_(builder), own_(std::move(own)), ranks_(ranks) {
    const Rank others = b_.rank() < ranks ? ranks - 1 : ranks;
    if (others > 0) others_ = b_.scratch(others, block, 0);
  }

  /// The place of rank i's operand.
  [[nodiscard]] Region of(Rank i) const {
    const Rank own = b_.rank();
    return i == own ? own_ : b_.region(others_, i < own ? i : i - 1, 1);
  }
  /// Combines them in the order of ranks into `to`, which is written last. Those of others are written over. There is
  /// at least one.
  void combine_into(const Region& to) const {
    const Rank last = ranks_ - 1;
    if (last == 0) return b_.copy(to, of(0));
    Region sum = of(0);
    for (Rank i = 1; i <= last; ++i) {
      // The sum is written over the operand, or over the sum before if the operand is the own one.
      const Region next = i == last ? to : i == b_.rank() ? sum : of(i);
      b_.reduce(next, sum, of(i));
      sum = next;
    }
  }

 private:
  Builder& b_;
  Region own_;
  Rank ranks_;
  std::int32_t others_ = 0;
};

}  // namespace circoll::patterns
