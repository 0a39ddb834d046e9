// Elementwise work on the runs of a plan: predefined kernels and callers' operators.
#pragma once

#include <cstddef>
#include <vector>

#include "circoll/buffers.hpp"
#include "circoll/ops.hpp"

namespace circoll::local {

/// dst = left op right, with three addresses for operators that know only two.
class Reduction {
 public:
  /// Prepares for one call. Exactly one of kernel and user is set, or neither for collectives without operator.
  void use(ReduceKernel kernel, const UserOperator* user, Count element_bytes);
  /// dst may be equal to left or right.
  void apply(std::byte* dst, const std::byte* left, const std::byte* right, Count elements);

 private:
  ReduceKernel kernel_ = nullptr;
  const UserOperator* user_ = nullptr;
  std::size_t element_bytes_ = 1;
  std::vector<std::byte> chunk_;  // where right is kept while dst = left is being overwritten
};

}  // namespace circoll::local
