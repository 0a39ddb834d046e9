// Binary trees in level order, and segments that go down them.
#pragma once

#include <bit>
#include <cstdint>

#include "circoll/types.hpp"

namespace circoll::patterns {

/// Nodes are numbered 1, 2, ..., the children of i are 2i and 2i + 1. A node that gets a segment in round t
/// sends it on to its first child in round t + 1 and to its second child in round t + 2: rounds from node 1
/// to node i.
[[nodiscard]] constexpr std::int64_t heap_delay(std::int64_t node) {
  const auto i = static_cast<std::uint64_t>(node);
  return static_cast<std::int64_t>(std::bit_width(i)) + std::popcount(i) - 2;
}

/// The largest delay in a tree of `nodes` >= 1 nodes.
[[nodiscard]] constexpr std::int64_t heap_height(std::int64_t nodes) {
  // The candidates: the last node, and those that have a 0 where it has a 1, and only 1s after that.
  std::int64_t most = heap_delay(nodes);
  for (int k = 0; k < 63 && (std::int64_t{1} << k) <= nodes; ++k) {
    const std::int64_t bit = std::int64_t{1} << k;
    if ((nodes & bit) == 0) continue;
    const std::int64_t candidate = (nodes & ~bit) | (bit - 1);
    if (candidate > 0 && heap_delay(candidate) > most) most = heap_delay(candidate);
  }
  return most;
}

/// The segment that goes over an edge in a round, or -1 if there is none. Segment s of n goes over it in round start +
/// s * period.
[[nodiscard]] constexpr std::int64_t segment_in(std::int64_t round, std::int64_t start, std::int64_t period,
                                                std::int64_t n) {
  const std::int64_t since = round - start;
  return since >= 0 && since % period == 0 && since / period < n ? since / period : -1;
}

}  // namespace circoll::patterns
