// Cyclic intervals against sets that are written out.
#include "symbolic/relative_expressions.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace circoll::symbolic {
namespace {

TEST(CyclicSet, SumsAreThoseOfSetsWrittenOut) {
  std::mt19937 random(7);
  const auto below = [&](Rank n) { return std::uniform_int_distribution<Rank>(0, n - 1)(random); };
  for (int round = 0; round < 20'000; ++round) {
    const Rank p = 1 + below(40);
    CyclicSet a(p);
    std::vector<bool> plain_a(static_cast<std::size_t>(p));
    for (Rank n = below(5); n > 0; --n) {
      const Rank rank = below(p);
      a.add(rank);
      plain_a[static_cast<std::size_t>(rank)] = true;
    }
    CyclicSet sums(p);
    std::vector<bool> plain(static_cast<std::size_t>(p));
    for (Rank n = below(4); n > 0; --n) {
      const CyclicSet::Interval interval{below(p), 1 + below(p)};
      sums.add_sums(a, interval);
      for (Rank x = 0; x < p; ++x) {
        for (Rank i = 0; plain_a[static_cast<std::size_t>(x)] && i < interval.length; ++i)
          plain[static_cast<std::size_t>((x + interval.begin + i) % p)] = true;
      }
    }
    std::size_t intervals = 0;
    std::optional<Rank> hole;
    for (Rank x = p - 1; x >= 0; --x) {
      const auto at = static_cast<std::size_t>(x);
      if (!plain[at]) hole = x;
      if (plain[at] && (x == 0 || !plain[at - 1])) ++intervals;
    }
    ASSERT_EQ(sums.hole(), hole) << "p = " << p;
    ASSERT_EQ(sums.intervals(), intervals) << "p = " << p;
    ASSERT_EQ(sums.empty(), intervals == 0);
  }
}

}  // namespace
}  // namespace circoll::symbolic
