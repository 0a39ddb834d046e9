// Sizes of operands in bytes, for forms that have sizes in them.
#pragma once

#include "circoll/plan.hpp"

namespace circoll::show {

/// The bytes of a schedule's operands where the vector of docs/notation.md (m) has `bytes`. User blocks are equal but
/// for a byte, larger ones first; in an exchange the vector of a rank is the blocks that it sends. A barrier has none.
class Sizes {
 public:
  /// The schedule must outlive it.
  Sizes(const Schedule& schedule, Count bytes);

  [[nodiscard]] Count of(Operand operand) const;

 private:
  const Schedule& schedule_;
  Layout layout_;
};

}  // namespace circoll::show
