// Operands that all ranks send to one another directly, so that no message waits for another.
#pragma once

#include "circoll/algorithm.hpp"
#include "circoll/builder.hpp"

namespace circoll::patterns {

/// The operands of one block, one of each rank, until they are combined.
class DirectOperands {
 public:
  /// Operands are of `block`. This rank's own lies at `own` and stays as it is.
  DirectOperands(Builder& builder, Block block, const Region& own)
      : DirectOperands(builder, block, own, builder.size()) {}
  /// Those of the ranks below `ranks` only. Precondition: all ranks below this one are among them.
  DirectOperands(Builder& builder, Block block, Region own, Rank ranks);

  /// The place of rank i's operand.
  [[nodiscard]] Region of(Rank i) const;
  /// Combines them in the order of ranks into `to`, which is written last. Those of others are written over. There is
  /// at least one.
  void combine_into(const Region& to) const;

 private:
  Builder& b_;
  Region own_;
  Rank ranks_;
  std::int32_t others_ = 0;
};

/// A prefix by one exchange: every rank sends its contribution to all ranks above it. It combines those of the ranks
/// below it in their order, and its own where the prefix is `inclusive` (scan, as against exscan).
void prefix_directly(Builder& builder, bool inclusive);
[[nodiscard]] Cost cost_of_prefix_directly(const Shape& shape, bool inclusive);
[[nodiscard]] CriticalPath path_of_prefix_directly(const Shape& shape, bool inclusive);

}  // namespace circoll::patterns
