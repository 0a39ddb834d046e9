// The levels of a machine that a job has ranks in, and orders of ranks that follow them.
#include "schedule/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "circoll/error.hpp"

namespace circoll {
namespace {

using Paths = std::vector<std::vector<std::string>>;

/// Hosts of one rank each, in the groups that are named.
Levels in_groups(const std::vector<int>& groups) {
  Paths paths;
  for (std::size_t r = 0; r < groups.size(); ++r)
    paths.push_back({"g" + std::to_string(groups[r]), "h" + std::to_string(r)});
  return Levels(std::move(paths));
}

TEST(Levels, PartsAreNumberedByTheirFirstRanks) {
  const Levels levels(Paths{{"b", "s1", "h7"}, {"a", "s1", "h1"}, {"b", "s2", "h3"}, {"b", "s1", "h7"}});
  EXPECT_EQ(levels.size(), 4);
  ASSERT_EQ(levels.depth(), 3);
  EXPECT_EQ(levels.name(0), "level 1");
  EXPECT_EQ(levels.name(2), "hosts");
  EXPECT_EQ(levels.parts(0), 2);
  EXPECT_EQ(levels.parts(1), 3) << "switches of one name in two groups are two";
  EXPECT_EQ(levels.part_name(0, levels.part(0, 1)), "a");
  EXPECT_EQ(levels.part_name(2, levels.part(2, 3)), "h7");
  EXPECT_EQ(levels.shared(0, 1), 0);
  EXPECT_EQ(levels.shared(0, 2), 1);
  EXPECT_EQ(levels.shared(0, 3), 3);
  EXPECT_EQ(levels.shared(2, 2), 3);
}

TEST(Levels, AShortPathIsFilledUp) {
  const Levels levels(Paths{{"a", "s1", "h1"}, {"b", "h2"}, {"h3"}}, {"groups", "switches", "hosts"});
  ASSERT_EQ(levels.depth(), 3);
  EXPECT_EQ(levels.name(1), "switches");
  EXPECT_EQ(levels.part_name(1, levels.part(1, 1)), "b");
  EXPECT_EQ(levels.part_name(0, levels.part(0, 2)), "h3");
}

TEST(Levels, WhatAllRanksShareIsLeftOut) {
  const Levels levels(Paths{{"top", "a", "h1"}, {"top", "b", "h2"}});
  ASSERT_EQ(levels.depth(), 2);
  EXPECT_EQ(levels.part_name(0, 0), "a");
  const Levels host(Paths{{"top", "a", "h1"}, {"top", "a", "h1"}});
  ASSERT_EQ(host.depth(), 1);
  EXPECT_EQ(host.name(0), "hosts");
  EXPECT_EQ(host.shared(0, 1), 1);
}

TEST(Levels, RefusesWhatIsNoPath) {
  EXPECT_THROW(Levels(Paths{}), Error);
  EXPECT_THROW(Levels(Paths{{}}), Error);
  EXPECT_THROW(Levels(Paths{{"a", ""}}), Error);
  EXPECT_THROW(Levels(Paths{{"a", "h"}}, {"hosts"}), Error);
  EXPECT_THROW((void)packed(in_groups({0, 1}), 2), Error);
}

bool is_permutation_of_ranks(std::vector<Rank> order, Rank p) {
  std::sort(order.begin(), order.end());
  std::vector<Rank> all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), Rank{0});
  return order == all;
}

TEST(Levels, SortedByPathKeepsPartsTogether) {
  const Levels levels = in_groups({3, 1, 3, 2, 1, 3});
  EXPECT_EQ(sorted_by_path(levels, 0), (std::vector<Rank>{0, 2, 5, 1, 4, 3}));
  EXPECT_EQ(sorted_by_path(levels, 4), (std::vector<Rank>{4, 1, 0, 2, 5, 3}));
}

/// Pairs of neighbours (0, 1), (2, 3), ... of an order that are in different groups.
std::int64_t mixed_pairs(const Levels& levels, const std::vector<Rank>& order) {
  std::int64_t mixed = 0;
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) mixed += levels.shared(order[i], order[i + 1]) == 0 ? 1 : 0;
  return mixed;
}

TEST(Packed, HasTheFewestMixedPairs) {
  std::mt19937 random(20261129);
  for (Rank p = 1; p <= 70; ++p) {
    for (int round = 0; round < 20; ++round) {
      std::vector<int> groups;
      for (Rank r = 0; r < p; ++r) groups.push_back(static_cast<int>(random() % 6));
      const Levels levels = in_groups(groups);
      const Rank first = static_cast<Rank>(random() % static_cast<unsigned>(p));
      const std::vector<Rank> order = packed(levels, first);
      ASSERT_TRUE(is_permutation_of_ranks(order, p));
      EXPECT_EQ(order.front(), first);
      if (levels.depth() == 1) continue;
      std::int64_t odd = 0;
      for (int group = 0; group < 6; ++group) odd += std::count(groups.begin(), groups.end(), group) % 2;
      const std::int64_t mixed = mixed_pairs(levels, order);
      // The first rank may not be the one without a partner, which costs one pair at most.
      EXPECT_GE(mixed, odd / 2) << p;
      EXPECT_LE(mixed, odd / 2 + 1) << p;
      if (p % 2 == 0) {
        EXPECT_EQ(mixed, odd / 2) << p;
      }
    }
  }
}

TEST(Packed, GroupsOfPowersOfTwoAreAligned) {
  // Groups of 8, 4, 2 and 2 ranks, scattered.
  const Levels levels = in_groups({1, 0, 0, 3, 0, 1, 0, 2, 0, 1, 0, 2, 0, 3, 0, 1});
  const std::vector<Rank> order = packed(levels, 0);
  for (const std::size_t run : {std::size_t{8}, std::size_t{4}}) {
    std::size_t whole = 0;
    for (std::size_t i = 0; i < order.size(); i += run) {
      bool same = true;
      for (std::size_t k = 1; k < run; ++k) same = same && levels.shared(order[i], order[i + k]) > 0;
      whole += same ? 1 : 0;
    }
    EXPECT_EQ(whole, run == 8 ? 1U : 3U) << run;
  }
  EXPECT_EQ(mixed_pairs(levels, order), 0);
}

TEST(Packed, HostsStayTogetherBeforeGroups) {
  // 6 hosts of 6 ranks in 2 groups: 4 of each host make a run, and the other two meet those of a host of their group.
  Paths paths;
  for (int r = 0; r < 36; ++r) paths.push_back({r % 2 == 0 ? "even" : "odd", "h" + std::to_string(r % 6)});
  const Levels levels(std::move(paths));
  const std::vector<Rank> order = packed(levels, 5);
  int of_one_host = 0, of_one_group = 0;
  for (std::size_t i = 0; i < order.size(); i += 4) {
    int shared = levels.depth();
    for (std::size_t k = 1; k < 4; ++k) shared = std::min(shared, levels.shared(order[i], order[i + k]));
    of_one_host += shared == 2 ? 1 : 0;
    of_one_group += shared >= 1 ? 1 : 0;
  }
  EXPECT_EQ(of_one_host, 6);
  EXPECT_EQ(of_one_group, 8) << "three pairs of each group are left over, of which two make a run";
}

}  // namespace
}  // namespace circoll
