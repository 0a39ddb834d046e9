// Wilcoxon's test and Student's, against published values, against counting all signs, and under drift.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "facts/statistics.hpp"

namespace circoll {
namespace {

/// The definition: the share of all choices of signs that leave as little on the lesser side, twice.
double by_counting(const std::vector<double>& differences) {
  const std::size_t n = differences.size();
  std::vector<double> sizes;
  for (const double one : differences) sizes.push_back(std::abs(one));
  std::ranges::sort(sizes);
  const auto rank = [&](double one) {
    return static_cast<double>(std::ranges::lower_bound(sizes, std::abs(one)) - sizes.begin() + 1);
  };
  double up = 0, down = 0;
  for (const double one : differences) (one > 0 ? up : down) += rank(one);
  int extreme = 0;
  for (unsigned signs = 0; signs < 1U << n; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += (signs >> i & 1U) == 1 ? static_cast<double>(i + 1) : 0;
    if (sum <= std::min(up, down)) ++extreme;
  }
  return std::min(1.0, 2 * static_cast<double>(extreme) / static_cast<double>(1U << n));
}

TEST(SignedRank, CountsAllSigns) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> draw(0.4, 1);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> differences(1 + random() % 12);
    for (double& one : differences) one = draw(random);
    EXPECT_NEAR(signed_rank(differences, 0.95).p_value, by_counting(differences), 1e-12);
  }
}

// Two-sided critical values at 5 %, as in all tables: 0 of 6 pairs, 8 of 10, 52 of 20, 137 of 30. One more is too much.
TEST(SignedRank, PublishedCriticalValues) {
  const auto with_sum = [](int n, int sum) {  // the negative ranks have this sum
    std::vector<double> differences;
    for (int rank = n; rank > 0; --rank) {
      const bool negative = sum >= rank;
      if (negative) sum -= rank;
      differences.push_back(negative ? -rank : rank);
    }
    return signed_rank(differences, 0.95).p_value;
  };
  for (const auto& [n, sum] : {std::pair(6, 0), std::pair(10, 8), std::pair(20, 52), std::pair(30, 137)}) {
    EXPECT_LE(with_sum(n, sum), 0.05) << n;
    EXPECT_GT(with_sum(n, sum + 1), 0.05) << n;
  }
  // The approximation goes on where the exact values end: 147 of 31 is the published value.
  EXPECT_NEAR(with_sum(31, 147), 0.05, 0.002);
}

TEST(SignedRank, MiddleAndInterval) {
  const Shift shift = signed_rank(std::vector<double>{1, 2, 4, 8, 16, 32}, 0.95);
  EXPECT_DOUBLE_EQ(shift.interval.low, 1);  // 6 pairs are the fewest for 95 %: the interval has all of them
  EXPECT_DOUBLE_EQ(shift.interval.high, 32);
  EXPECT_DOUBLE_EQ(shift.middle, 8.5);  // of the 21 means of two: 8, 8.5, 9
  EXPECT_TRUE(std::isinf(signed_rank(std::vector<double>{1, 2, 4, 8, 16}, 0.95).interval.high));
  EXPECT_TRUE(std::isinf(signed_rank({}, 0.95).interval.low));
  EXPECT_EQ(signed_rank(std::vector<double>{0, 0, 0, 0, 0, 0}, 0.95).p_value, 1);
}

// A difference that the machine's drift makes larger and larger, with heavy tails. Its sign is a coin's.
TEST(SignedRank, HoldsUnderDriftAndHeavyTails) {
  std::mt19937_64 random(5);
  std::cauchy_distribution<double> draw(0, 1);
  constexpr int trials = 4000;
  for (const int n : {8, 20, 45}) {
    int outside = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> differences;
      for (int i = 0; i < n; ++i) {
        const double drift = 0.5 * i + draw(random);
        differences.push_back(random() % 2 == 0 ? drift : -drift);
      }
      const ConfidenceInterval interval = signed_rank(differences, 0.95).interval;
      if (interval.low > 0 || interval.high < 0) ++outside;
    }
    EXPECT_LE(outside, trials * 6 / 100) << n;
    EXPECT_GE(outside, trials * 2 / 100) << n;
  }
}

// Quantiles of every table: with 1 degree of freedom 12.706, with 4 2.776, with 9 2.262 for 95 %.
TEST(Student, PublishedQuantiles) {
  for (const auto& [n, t] : {std::pair(2, 12.7062), std::pair(5, 2.7764), std::pair(10, 2.2622)}) {
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? 1 : i % 4 == 1 ? 3 : -1);
    double mean = 0, squares = 0;
    for (const double one : values) mean += one / n;
    for (const double one : values) squares += (one - mean) * (one - mean);
    const double error = std::sqrt(squares / (n - 1) / n);
    const Shift shift = student(values, 0.95);
    EXPECT_NEAR((shift.interval.high - shift.middle) / error, t, 1e-4) << n;
    EXPECT_NEAR((shift.middle - shift.interval.low) / error, t, 1e-4) << n;
    EXPECT_NEAR(student(std::vector<double>{1, 1 + 1e-9}, 0.95).p_value, 0, 1e-8);
  }
  EXPECT_TRUE(std::isinf(student(std::vector<double>{1}, 0.95).interval.high));
  EXPECT_EQ(student(std::vector<double>{0, 0, 0}, 0.95).p_value, 1);
  // t = 3.182 with 3 degrees of freedom is the quantile of 95 %.
  const double d = 3.18245 / 2;  // mean d, standard deviation 1
  const double a = std::sqrt(3.0) / 2;
  EXPECT_NEAR(student(std::vector<double>{d - a, d - a, d + a, d + a}, 0.95).p_value, 0.05, 1e-5);
}

}  // namespace
}  // namespace circoll
