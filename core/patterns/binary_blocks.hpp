// Binary blocks: p ranks as blocks of 2^e_0 > 2^e_1 > ... ranks, after the binary digits of p.
//
// Every block halves the vector by itself. Then, from the smallest block on, the segments of a block are divided among
// the ranks of the next larger one, which combine them with their own. The largest block ends with the whole sum.
#pragma once

#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/butterfly.hpp"

namespace circoll::patterns {

class BinaryBlocks {
 public:
  explicit BinaryBlocks(Rank p);

  [[nodiscard]] int count() const { return static_cast<int>(exponents_.size()); }
  [[nodiscard]] int exponent(int block) const { return exponents_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] Rank size(int block) const { return Rank{1} << exponent(block); }
  [[nodiscard]] Rank first(int block) const { return firsts_[static_cast<std::size_t>(block)]; }
  [[nodiscard]] int block_of(Rank rank) const;
  /// The round in which the next smaller block begins to send to a block. 2^(difference of exponents) rounds.
  [[nodiscard]] std::int64_t start(int block) const { return starts_[static_cast<std::size_t>(block)]; }
  /// Rounds until the largest block has the sum.
  [[nodiscard]] std::int64_t rounds() const;

 private:
  std::vector<int> exponents_;
  std::vector<Rank> firsts_;
  std::vector<std::int64_t> starts_;
};

/// The part of a rank in the butterfly of its block; blocks_before and home are the caller's.
[[nodiscard]] Butterfly butterfly_in(const BinaryBlocks& blocks, Rank rank);

/// Writes blocks.rounds() rounds, from the own vector `held`. Returns the place of a rank's combined segments: one
/// segment in the largest block.
[[nodiscard]] Region reduce_in_blocks(Builder& builder, const BinaryBlocks& blocks, const Butterfly& butterfly,
                                      Region held);

/// Its critical path, from one block per segment, and two for the first `doubled` ones in the order of
/// places. O(log^2 p).
[[nodiscard]] CriticalPath path_to_sum(const BinaryBlocks& blocks, Rank doubled);

/// The same rounds in opposite order. They lead from the segments of the largest block to the whole vector at all
/// ranks, in `home`.
void spread_in_blocks(Builder& builder, const BinaryBlocks& blocks, const Butterfly& butterfly, Region held);

}  // namespace circoll::patterns
