// Statistics of measured times that assume nothing about their distribution.
#pragma once

#include <cstddef>
#include <span>

namespace circoll {

struct ConfidenceInterval {
  double low = 0;
  double high = 0;
};

/// The least value that at least the fraction q of all does not exceed, 0 < q <= 1. It is 0 if there are none.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);
/// A confidence interval of the median of the distribution that the values are a sample of. It is the narrowest pair of
/// values, symmetric by rank, with at least this confidence. It is the extreme ones where there are too few values
/// (fewer than 6 for 95 %). From the order statistics: the number of values below the median is binomial.
[[nodiscard]] ConfidenceInterval median_interval(std::span<const double> sorted, double confidence = 0.95);

/// The Mann-Whitney U test, one-sided. It gives the probability that ranks of `larger` are as high as these, or higher,
/// if both samples come of one distribution. Values that are equal share their ranks. Up to 60 values in all it is
/// exact, given which values are equal. Beyond, it is the normal approximation, corrected for ties and continuity. 1 if
/// a sample is empty.
[[nodiscard]] double mann_whitney(std::span<const double> larger, std::span<const double> smaller);

/// The least that mann_whitney can give for samples of these sizes. It is 1 / (n + m choose n), when every value of the
/// one exceeds all of the other.
[[nodiscard]] double least_mann_whitney(std::size_t larger, std::size_t smaller);

}  // namespace circoll
