// Medians and their confidence intervals, against published tables and by simulation.
#include "measured/statistics.hpp"
#include "facts/median.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace circoll {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Statistics, Medians) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median(one_to(1)), 1);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median_of_sorted(one_to(4)), 2.5);
  EXPECT_EQ(median(one_to(5)), 3);
}

TEST(Statistics, Quantiles) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile(one_to(20), 0.95), 19);
  EXPECT_EQ(quantile(one_to(100), 0.95), 95);
  EXPECT_EQ(quantile(one_to(3), 1), 3);
  EXPECT_EQ(quantile(one_to(3), 0.01), 1);
}

// The ranks that Le Boudec (Performance Evaluation of Computer and Communication Systems, appendix A) gives for 95 %.
TEST(Statistics, IntervalsOfMedians) {
  const auto ranks = [](int n) {
    const std::vector<double> values = one_to(n);
    const ConfidenceInterval interval = median_interval(values);
    return std::pair(static_cast<int>(interval.low), static_cast<int>(interval.high));
  };
  EXPECT_EQ(ranks(1), std::pair(1, 1));
  EXPECT_EQ(ranks(5), std::pair(1, 5));  // too few for 95 %
  EXPECT_EQ(ranks(6), std::pair(1, 6));
  EXPECT_EQ(ranks(10), std::pair(2, 9));
  EXPECT_EQ(ranks(20), std::pair(6, 15));
  EXPECT_EQ(ranks(50), std::pair(18, 33));
  EXPECT_EQ(ranks(70), std::pair(27, 44));
}

TEST(Statistics, IntervalsHoldTheMedianAsOftenAsTheySay) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> draw(1.0);  // median ln 2
  for (const std::size_t n : {7U, 30U, 400U}) {
    int held = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<double> values(n);
      for (double& value : values) value = draw(random);
      std::sort(values.begin(), values.end());
      const ConfidenceInterval interval = median_interval(values);
      if (interval.low <= std::log(2.0) && std::log(2.0) <= interval.high) ++held;
    }
    EXPECT_GE(held, trials * 94 / 100) << n;  // at least 95 %, less what chance takes in 4000 trials
    EXPECT_LE(held, trials * 995 / 1000) << n;
  }
}

}  // namespace
}  // namespace circoll
