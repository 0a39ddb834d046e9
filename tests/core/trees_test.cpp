// Trees and groups of patterns/: Bine's against their definition, double trees, and places of recursive multiplying.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "patterns/bine.hpp"
#include "patterns/double_tree.hpp"
#include "patterns/multiplying.hpp"

namespace circoll::patterns {
namespace {

/// The parent of each rank but 0, and the round in which it gets the data.
using Tree = std::map<Rank, std::pair<Rank, int>>;

Tree tree_of(Rank p) {
  Tree tree;
  for (Rank v = 0; v < p; ++v) {
    const BineTree seen(p, v);
    for (std::size_t round = 0; round < seen.rounds().size(); ++round) {
      const BineTree::Edge& edge = seen.rounds()[round];
      if (edge.ranks > 0 && edge.child == seen.place()) tree[v] = {mod(edge.parent, p), static_cast<int>(round)};
    }
  }
  return tree;
}

TEST(Bine, DistancesAreThoseOfThePaper) {
  const Rank expected[] = {1, -1, 3, -5, 11, -21, 43, -85};
  for (int t = 0; t < 8; ++t) EXPECT_EQ(bine_distance(t), expected[t]);
  for (Rank p = 2; p <= 64; p += 2) {
    for (int t = 0; t < ceil_log2(p); ++t) {
      for (Rank r = 0; r < p; ++r) EXPECT_EQ(bine_partner(bine_partner(r, t, p), t, p), r) << p << " " << t;
    }
  }
}

TEST(Bine, TreesOfPowersOfTwoAreThoseOfThePaper) {
  for (int s = 0; s <= 10; ++s) {
    const Rank p = Rank{1} << s;
    Tree expected;
    std::set<Rank> reached{0};
    for (int round = 0; round < s; ++round) {
      const std::set<Rank> before = reached;
      for (const Rank parent : before) {
        const Rank child = bine_partner(parent, s - 1 - round, p);
        expected[child] = {parent, round};
        reached.insert(child);
      }
    }
    EXPECT_EQ(tree_of(p), expected) << p;
  }
}

TEST(Bine, DistancesAreShorterThanThoseOfABinomialTree) {
  const auto around = [](Rank distance, Rank p) { return std::min(mod(distance, p), mod(-distance, p)); };
  for (Rank p = 1; p <= 300; ++p) {
    const Tree tree = tree_of(p);
    ASSERT_EQ(static_cast<Rank>(tree.size()), p - 1);
    Rank sum = 0;
    for (const auto& [child, edge] : tree) sum += around(child - edge.first, p);
    Rank binomial = 0;
    for (Rank v = 1; v < p; ++v) binomial += around(v & -v, p);
    EXPECT_LE(sum, binomial) << p;
    // A distance is a third of an interval in place of a half; in short intervals it is rounded.
    if (p > 64) {
      EXPECT_LT(5 * sum, 4 * binomial) << p;
    }
  }
}

/// Blocks that rank 0 sends over each distance to its partner.
std::vector<std::pair<Rank, std::int64_t>> messages(std::string_view id, Rank p) {
  const Schedule schedule = build_schedule(id, {.size = p});
  std::vector<std::pair<Rank, std::int64_t>> sent;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::send) sent.emplace_back(std::min(step.peer, p - step.peer), schedule.count(step.left));
  }
  return sent;
}

TEST(Bine, SwingSendsLongMessagesToNeighbours) {
  using Messages = std::vector<std::pair<Rank, std::int64_t>>;
  EXPECT_EQ(messages("allgather/swing", 32), (Messages{{11, 1}, {5, 2}, {3, 4}, {1, 8}, {1, 16}}));
  EXPECT_EQ(messages("reduce_scatter/swing", 32), (Messages{{1, 16}, {1, 8}, {3, 4}, {5, 2}, {11, 1}}));
  EXPECT_EQ(messages("allgather/bine", 32), (Messages{{1, 1}, {1, 2}, {3, 4}, {5, 8}, {11, 16}}));
  EXPECT_EQ(messages("allgather/pat", 32), (Messages{{16, 1}, {8, 2}, {4, 4}, {2, 8}, {1, 16}}));
  EXPECT_EQ(messages("allgather/pat:aggregate=3", 8), (Messages{{4, 1}, {2, 2}, {1, 3}, {1, 1}}));
}

TEST(Bine, MessagesAreCyclicRanges) {
  for (Rank p = 2; p <= 100; p += 2) {
    for (Rank r = 0; r < 2; ++r) {
      const Schedule schedule = build_schedule("allgather/bine", {.size = p, .rank = r});
      for (const Step& step : schedule.steps) {
        if (step.kind != StepKind::send) continue;
        EXPECT_EQ(schedule.operand(step.left).size(), 1U) << p;
      }
    }
  }
}

TEST(DoubleTrees, RanksSendInOneTreeAndReceiveInOppositeRounds) {
  for (Rank p = 2; p <= 300; ++p) {
    const DoubleTree trees(p);
    std::set<Rank> seen;
    for (Rank v = 1; v < p; ++v) {
      ASSERT_EQ(trees.rank_at(1, trees.node_of(1, v)), v) << p;
      seen.insert(trees.node_of(1, v));
      EXPECT_TRUE(v > trees.inner() || trees.node_of(1, v) > trees.inner()) << p << " " << v;
      EXPECT_NE(trees.start(0, v) % 2, trees.start(1, trees.node_of(1, v)) % 2) << p << " " << v;
    }
    EXPECT_EQ(*seen.begin(), 1);
    EXPECT_EQ(*seen.rbegin(), trees.last());
    EXPECT_EQ(static_cast<Rank>(seen.size()), trees.last());
    EXPECT_NE(trees.start(0, 1) % 2, trees.start(1, 1) % 2) << "the root sends to both";
  }
}

TEST(Multiplying, FewerThanHalfOfTheRanksAreFolded) {
  for (const std::int64_t radix : {2, 3, 4, 5, 8, 13}) {
    for (Rank p = 1; p <= 300; ++p) {
      const Multiplying places(p, radix);
      Rank number = 1;
      for (const auto& [unit, members] : places.levels()) {
        EXPECT_EQ(unit, number);
        EXPECT_LE(members, radix);
        number *= members;
      }
      EXPECT_EQ(number, places.folding().places());
      EXPECT_LT(2 * places.folding().pairs(), p);
      for (Rank place = 0; place < number; ++place) {
        EXPECT_EQ(places.folding().place_of(places.folding().rank_at(place)), place);
      }
    }
  }
}

TEST(Multiplying, NoScheduleHasTwoNames) {
  // With a radix of 2 these are recursive_doubling, a hypercube, and bruck.
  for (const char* id :
       {"allgather/recursive_multiplying", "allreduce/recursive_multiplying", "reduce_scatter/recursive_multiplying",
        "barrier/recursive_multiplying", "allgather/radix_bruck", "alltoall/radix_bruck"}) {
    EXPECT_THROW((void)parse_selection(std::string(id) + ":radix=2"), Error) << id;
    EXPECT_EQ(parse_selection(std::string(id) + ":radix=3").params.at("radix"), 3) << id;
  }
}

}  // namespace
}  // namespace circoll::patterns
