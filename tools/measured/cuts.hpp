// Where rules of measured sizes meet.
#pragma once

#include <algorithm>
#include <cmath>

#include "circoll/types.hpp"

namespace circoll::measured {

/// The geometric mean, and never outside of (low, high].
[[nodiscard]] inline Count cut_between(Count low, Count high) {
  const double mean = std::sqrt(static_cast<double>(low)) * std::sqrt(static_cast<double>(high));
  return std::clamp(static_cast<Count>(std::llround(std::min(mean, 9e18))), low + 1, high);
}

}  // namespace circoll::measured
