// Statistics of measured times that assume nothing about their distribution.
#pragma once

#include <span>

namespace circoll {

struct Interval {
  double low = 0;
  double high = 0;
};

/// The least value that at least the fraction q of all does not exceed, 0 < q <= 1. It is 0 if there are none.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);
/// A confidence interval of the median of the distribution that the values are a sample of. It is the narrowest pair of
/// values, symmetric by rank, with at least this confidence; the extreme ones where there are too few for it (fewer
/// than 6 for 95 %). From the order statistics: the number of values below the median is binomial.
[[nodiscard]] Interval median_interval(std::span<const double> sorted, double confidence = 0.95);

}  // namespace circoll
