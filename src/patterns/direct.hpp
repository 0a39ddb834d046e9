// Operands that all ranks send to one another directly, so that no message waits for another.
#pragma once

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// The operands of one block, one of each rank, until they are combined.
class DirectOperands {
 public:
  /// Operands are of `block`. This rank's own lies at `own` and stays as it is.
  DirectOperands(Builder& builder, Block block, Region own);

  /// The place of rank i's operand.
  [[nodiscard]] Region of(Rank i) const;
  /// Combines them in the order of ranks into `to`, which is written last. Those of others are written over.
  void combine_into(const Region& to) const;

 private:
  Builder& b_;
  Region own_;
  std::int32_t others_ = 0;
};

}  // namespace circoll::patterns
