// Ranks in words, for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "circoll/types.hpp"

namespace circoll {

/// "0, 2-5": ascending numbers.
[[nodiscard]] inline std::string numbers_text(std::span<const Rank> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

/// "rank 1", "ranks 0, 2-5": ascending numbers.
[[nodiscard]] inline std::string ranks_text(std::span<const Rank> ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + numbers_text(ranks);
}

}  // namespace circoll
