// Statistics of measured times that assume nothing about their distribution.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "facts/median.hpp"

namespace circoll {

/// The ends of a confidence interval; they belong to it.
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

/// The p values of many tests, corrected after Holm. If those are called significant whose corrected value is at most
/// a, the chance that any of these is so by accident is at most a, however the tests depend on one another.
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

/// The differences of pairs, judged without looking at the order of the pairs.
struct Shift {
  double middle = 0;            ///< the estimate of Hodges and Lehmann: the median of the means of all two differences
  ConfidenceInterval interval;  ///< of the shift; infinite where there are too few pairs for the confidence
  double p_value = 1;           ///< two-sided, of the shift 0
};

/// Wilcoxon's signed-rank test and its interval. A pair whose order a coin has decided has a difference that is as
/// often positive as negative, if both kinds are equal, whatever the machine does meanwhile. So the interval holds
/// under load and drift. Up to 30 differences it is exact. Beyond, it is the normal approximation, which is wider.
[[nodiscard]] Shift signed_rank(std::span<const double> differences, double confidence);

/// Student's interval for the same, which assumes normal differences. It answers with fewer than ten of them, where the
/// test above never can.
[[nodiscard]] Shift student(std::span<const double> differences, double confidence);

}  // namespace circoll
