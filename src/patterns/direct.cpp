#include "patterns/direct.hpp"

#include <utility>

namespace circoll::patterns {

DirectOperands::DirectOperands(Builder& builder, Block block, Region own) : b_(builder), own_(std::move(own)) {
  if (b_.size() > 1) others_ = b_.scratch(b_.size() - 1, block, 0);
}

Region DirectOperands::of(Rank i) const {
  const Rank own = b_.rank();
  return i == own ? own_ : b_.region(others_, i < own ? i : i - 1, 1);
}

void DirectOperands::combine_into(const Region& to) const {
  const Rank last = b_.size() - 1;
  if (last == 0) return b_.copy(to, own_);
  Region sum = of(0);
  for (Rank i = 1; i <= last; ++i) {
    // The sum is written over the operand, or over the sum before if the operand is the own one.
    const Region next = i == last ? to : i == b_.rank() ? sum : of(i);
    b_.reduce(next, sum, of(i));
    sum = next;
  }
}

}  // namespace circoll::patterns
