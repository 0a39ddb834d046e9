// Parallel aggregated trees: what allgather, reduce_scatter and allreduce of this name share.
#pragma once

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace circoll::patterns {

/// The parameter that limits messages.
inline constexpr ParamDeclaration aggregate{
    .name = "aggregate", .minimum = 1, .maximum = 1 << 20, .fallback = 1 << 20, .summary = "most blocks in a message"};

/// Rounds of an allgather by parallel aggregated trees. O(log p)
[[nodiscard]] inline std::int64_t pat_rounds(const Shape& shape) {
  const std::int64_t most = value_of(shape, aggregate);
  std::int64_t rounds = 0;
  for (int k = 0; k < ceil_log2(shape.size); ++k) {
    const std::int64_t blocks = (shape.size - 1 + (Rank{1} << k)) >> (k + 1);
    rounds += (blocks + most - 1) / most;
  }
  return rounds;
}
inline constexpr std::string_view twice_pat_rounds_formula =
    "2 sum(i, 0, q-1, ceil(floor((p-1+2^i)/2^(i+1))/aggregate))";
inline constexpr std::string_view pat_rounds_formula = twice_pat_rounds_formula.substr(2);

}  // namespace circoll::patterns
