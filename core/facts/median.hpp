// The median of all tables: the value in the middle, or the mean of the two there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace circoll {

/// The median of values in ascending order; 0 if there are none.
[[nodiscard]] inline double median_of_sorted(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  if (n == 0) return 0;
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/// The same of values in any order.
[[nodiscard]] inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

}  // namespace circoll
