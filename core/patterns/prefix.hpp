// Prefix reductions: by doubling groups, and by one exchange among all.
#pragma once

#include "circoll/algorithm.hpp"
#include "circoll/builder.hpp"

namespace circoll::patterns {

/// Writes a scan (`inclusive`), or an exscan. In round k rank r exchanges with r xor 2^k, if there is one, the total of
/// their groups of 2^k ranks. Any associative operator, any p; one block.
void prefix_by_doubling(Builder& builder, bool inclusive);

/// Its cost.
[[nodiscard]] Cost cost_of_prefix_by_doubling(const Shape& shape, bool inclusive);

/// Its critical path.
[[nodiscard]] CriticalPath path_of_prefix_by_doubling(const Shape& shape, bool inclusive);

/// A prefix by one exchange: every rank sends its contribution to all ranks above it. It combines those of the ranks
/// below it in their order, and its own where the prefix is `inclusive` (scan, as against exscan).
void prefix_directly(Builder& builder, bool inclusive);
[[nodiscard]] Cost cost_of_prefix_directly(const Shape& shape, bool inclusive);
[[nodiscard]] CriticalPath path_of_prefix_directly(const Shape& shape, bool inclusive);

}  // namespace circoll::patterns
