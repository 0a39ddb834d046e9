#include "measured/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace circoll {

double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Interval median_interval(std::span<const double> sorted, double confidence) {
  const std::size_t n = sorted.size();
  if (n == 0) return {};
  // P(fewer than `below` + 1 of n values lie below the median) must not exceed what each side may miss.
  const double may_miss = (1 - confidence) / 2;
  const double logarithm_of_all = static_cast<double>(n) * std::log(2.0);
  double missed = 0;
  std::size_t below = 0;
  for (; below < n / 2; ++below) {
    const double ways = std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(below) + 1) -
                        std::lgamma(static_cast<double>(n - below) + 1);
    missed += std::exp(ways - logarithm_of_all);
    if (missed > may_miss) break;
  }
  // Values number `below` and n + 1 - `below`, counted from 1.
  const std::size_t low = below == 0 ? 0 : below - 1;
  return {sorted[low], sorted[n - 1 - low]};
}

}  // namespace circoll
