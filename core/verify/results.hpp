// Proofs about the results of a symbolic execution.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "symbolic/execution.hpp"
#include "verify/subject.hpp"

namespace circoll::verify {

using symbolic::Execution;
using symbolic::Expressions;
using symbolic::undefined;
using symbolic::Value;

/// The results that the ranks have after an execution.
class Results {
 public:
  Results(const Subject& subject, Execution& execution) : subject_(subject), execution_(execution) {}

  /// Proves that each rank has the blocks that the collective gives it. These are the block that was sent, or all
  /// contributions, exactly once, in the order and with the bits that are claimed. Throws Refuted.
  void check();

 private:
  using Fail = std::function<void(Claim claim, const std::string& what)>;
  /// `value` must combine the contributions of ranks 0 .. sources - 1.
  void check_reduction(Value value, Rank sources, const Fail& fail);
  [[nodiscard]] Expressions& expressions() { return execution_.expressions(); }

  const Subject& subject_;
  Execution& execution_;
  std::vector<bool> found_;
};

}  // namespace circoll::verify
