// Rules about vectors, for formats that count the bytes of one rank's block.
#pragma once

#include <limits>
#include <vector>

#include "foreign/cells.hpp"

namespace circoll::foreign {

/// A condition on ranks and on the bytes that a format counts.
struct Condition {
  Range ranks{};
  Range bytes{};
};

/// The most numbers of ranks that are written one by one.
inline constexpr Rank most_single_ranks = 128;

/// True if a range of vectors can be said as ranges of blocks. It has all sizes, or few numbers of ranks.
[[nodiscard]] inline bool sayable_in_blocks(const Range& ranks, const Range& bytes) {
  return bytes == Range{} || (ranks.to < std::numeric_limits<Rank>::max() && ranks.to - ranks.from < most_single_ranks);
}

/// The conditions of a cell. With `by_block`, a block is the vector divided by the ranks, so that each number of ranks
/// has bounds of its own.
[[nodiscard]] inline std::vector<Condition> conditions_of(const Range& ranks, const Range& bytes, bool by_block) {
  if (!by_block || bytes == Range{}) return {{.ranks = ranks, .bytes = bytes}};
  std::vector<Condition> conditions;
  for (Rank p = ranks.from; p <= ranks.to; ++p) {
    const bool open = bytes.to == unbounded;
    const Range blocks{bytes.from / p + (bytes.from % p == 0 ? 0 : 1), open ? bytes.to : bytes.to / p};
    if (blocks.from <= blocks.to) conditions.push_back({.ranks = {p, p}, .bytes = blocks});
  }
  return conditions;
}

}  // namespace circoll::foreign
