// Levels of critical paths (CriticalPath::levels) that several algorithms have. There are none for one rank.
#pragma once

#include <bit>
#include <cstdint>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// No message waits for another one.
[[nodiscard]] inline std::int64_t one_level(const Shape& shape) { return shape.size > 1 ? 1 : 0; }
/// All messages of a first part, then those of a second.
[[nodiscard]] inline std::int64_t two_levels(const Shape& shape) { return 2 * one_level(shape); }
/// A line of all ranks, however many segments follow one another along it.
[[nodiscard]] inline std::int64_t line_levels(const Shape& shape) { return shape.size - 1; }
/// A binomial tree: the most ones that the number of a rank has in base 2, floor(log2 p).
[[nodiscard]] inline std::int64_t binomial_levels(const Shape& shape) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(shape.size))) - 1;
}
/// Up a binomial tree, and down again.
[[nodiscard]] inline std::int64_t twice_binomial_levels(const Shape& shape) { return 2 * binomial_levels(shape); }

}  // namespace circoll::patterns
