// The Mann-Whitney test, against published values and against counting all ways.
#include "facts/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace circoll {
namespace {

/// The definition, by counting: the share of all choices of the first sample's values that win as many pairs. Ties
/// count half.
double by_counting(const std::vector<double>& larger, const std::vector<double>& smaller) {
  std::vector<double> all = larger;
  all.insert(all.end(), smaller.begin(), smaller.end());
  const auto statistic = [&](unsigned chosen) {
    double u = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        if ((chosen >> i & 1U) == 0 || (chosen >> j & 1U) == 1) continue;
        u += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
      }
    }
    return u;
  };
  const double own = statistic((1U << larger.size()) - 1);
  double ways = 0, extreme = 0;
  for (unsigned chosen = 0; chosen < 1U << all.size(); ++chosen) {
    if (static_cast<std::size_t>(__builtin_popcount(chosen)) != larger.size()) continue;
    ways += 1;
    if (statistic(chosen) >= own) extreme += 1;
  }
  return extreme / ways;
}

TEST(MannWhitney, KnownValues) {
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{4.0, 5, 6}, std::vector<double>{1.0, 2, 3}), 1.0 / 20);
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{5.0, 6, 7, 8}, std::vector<double>{1.0, 2, 3, 4}), 1.0 / 70);
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{4.0, 6, 7, 8}, std::vector<double>{1.0, 2, 3, 5}), 2.0 / 70);
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{1.0, 2, 3}, std::vector<double>{4.0, 5, 6}), 1);
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector<double>{2.0}, std::vector<double>{1.0}), 0.5);
  // Published critical values, one-sided at 5 %: U = 4 of 25 for 5 and 5, 27 of 100 for 10 and 10 (the smaller of
  // the two U).
  const auto with_losses = [](int n, int lost) {  // the first sample loses `lost` pairs
    std::vector<double> larger, smaller;
    for (int i = 0; i < n; ++i) smaller.push_back(i);
    for (int i = 0; i < n; ++i) {
      const int own = std::min(lost, n);
      lost -= own;
      larger.push_back(n - own - 0.5 + 0.01 * i);
    }
    return mann_whitney(larger, smaller);
  };
  EXPECT_LE(with_losses(5, 4), 0.05);
  EXPECT_GT(with_losses(5, 5), 0.05);
  EXPECT_LE(with_losses(10, 27), 0.05);
  EXPECT_GT(with_losses(10, 28), 0.05);
}

TEST(MannWhitney, CountsAllWaysAlsoWithTies) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> larger(1 + random() % 5), smaller(1 + random() % 5);
    for (double& value : larger) value = static_cast<double>(random() % 5);
    for (double& value : smaller) value = static_cast<double>(random() % 4);
    EXPECT_NEAR(mann_whitney(larger, smaller), by_counting(larger, smaller), 1e-12);
  }
}

TEST(MannWhitney, EqualValuesShowNothing) {
  EXPECT_EQ(mann_whitney(std::vector<double>(4, 1.0), std::vector<double>(4, 1.0)), 1);
  EXPECT_EQ(mann_whitney(std::vector<double>(40, 1.0), std::vector<double>(40, 1.0)), 1);
  EXPECT_EQ(mann_whitney(std::vector<double>(), std::vector<double>{1.0}), 1);
}

// Beyond 60 values the test approximates, and continues the exact values.
TEST(MannWhitney, TheApproximationContinuesTheExactValues) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> larger(30), smaller(30);
    for (double& value : larger) value = static_cast<double>(random() % 20 + random() % 3);
    for (double& value : smaller) value = static_cast<double>(random() % 20);
    const double exact = mann_whitney(larger, smaller);
    // One more value in the middle hardly changes anything.
    larger.push_back(10);
    EXPECT_NEAR(mann_whitney(larger, smaller), exact, 0.03);
  }
}

TEST(MannWhitney, TheLeastThatCanBeReached) {
  EXPECT_DOUBLE_EQ(least_mann_whitney(3, 3), 1.0 / 20);
  EXPECT_DOUBLE_EQ(least_mann_whitney(4, 4), 1.0 / 70);
  EXPECT_DOUBLE_EQ(least_mann_whitney(2, 2), 1.0 / 6);
  EXPECT_DOUBLE_EQ(least_mann_whitney(1, 0), 1);
}

// Samples of one distribution are said to differ as seldom as the level promises.
TEST(MannWhitney, ErrsAsSeldomAsItSays) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> draw(1.0);
  constexpr int trials = 4000;
  int found = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> a(5), b(5);
    for (double& value : a) value = draw(random);
    for (double& value : b) value = draw(random);
    if (mann_whitney(a, b) <= 0.05) ++found;
  }
  EXPECT_LT(found, trials * 6 / 100);
  EXPECT_GT(found, trials * 3 / 100);
}

TEST(Holm, CorrectsForTheTestsThatAreLeft) {
  const std::vector<double> corrected = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(corrected.size(), 4U);
  EXPECT_DOUBLE_EQ(corrected[3], 0.02);
  EXPECT_DOUBLE_EQ(corrected[0], 0.03);
  EXPECT_DOUBLE_EQ(corrected[2], 0.06);
  EXPECT_DOUBLE_EQ(corrected[1], 0.06);  // no less than the one before
  EXPECT_EQ(holm(std::vector<double>{0.4, 0.7}).at(0), 0.8);
  EXPECT_EQ(holm(std::vector<double>{0.6, 0.7}).at(0), 1);
  EXPECT_TRUE(holm(std::vector<double>{}).empty());
}

}  // namespace
}  // namespace circoll
