// Messages between the parts of a machine, and labels of ranks that make them fewer.
#include "model/near_labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "circoll/error.hpp"
#include "circoll/verify.hpp"

namespace circoll {
namespace {

#ifdef CIRCOLL_SANITIZED
constexpr Rank largest = 6;
#else
constexpr Rank largest = 12;
#endif

/// Hosts of one or several ranks below groups, all drawn at random.
Levels random_levels(Rank p, std::mt19937& random) {
  std::vector<std::vector<std::string>> paths;
  for (Rank r = 0; r < p; ++r) {
    const auto host = random() % 7;
    paths.push_back({"g" + std::to_string(host % 3), "h" + std::to_string(host)});
  }
  return Levels(std::move(paths));
}

/// One rank on each host, in the groups that are named.
Levels in_groups(const std::vector<int>& groups) {
  std::vector<std::vector<std::string>> paths;
  for (std::size_t r = 0; r < groups.size(); ++r)
    paths.push_back({"g" + std::to_string(groups[r]), "h" + std::to_string(r)});
  return Levels(std::move(paths));
}

/// Groups of these sizes, whose ranks come in random order.
Levels shuffled_groups(const std::vector<int>& sizes, std::mt19937& random) {
  std::vector<int> groups;
  for (std::size_t g = 0; g < sizes.size(); ++g)
    groups.insert(groups.end(), static_cast<std::size_t>(sizes[g]), static_cast<int>(g));
  std::shuffle(groups.begin(), groups.end(), random);
  return in_groups(groups);
}

std::shared_ptr<const Relabelling> random_labels(Rank p, std::mt19937& random) {
  std::vector<Rank> labels(static_cast<std::size_t>(p));
  std::iota(labels.begin(), labels.end(), Rank{0});
  std::shuffle(labels.begin(), labels.end(), random);
  return std::make_shared<const Relabelling>(std::move(labels));
}

/// Counts step by step, from the schedules that the ranks would execute.
LevelTraffic counted(const Selection& selection, const Shape& of_all, const Levels& levels) {
  LevelTraffic traffic;
  traffic.between.resize(static_cast<std::size_t>(levels.depth()) + 1);
  for (int level = 0; level < levels.depth(); ++level) {
    for (Rank part = 0; part < levels.parts(level); ++part) traffic.links.push_back({.level = level, .part = part});
  }
  Shape shape = of_all;
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) {
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
    for (const Step& step : schedule.steps) {
      if (step.kind != StepKind::send) continue;
      const Flow flow{.messages = 1, .blocks = schedule.count(step.left)};
      int shared = 0;
      while (shared < levels.depth() && levels.part(shared, shape.rank) == levels.part(shared, step.peer)) ++shared;
      traffic.between[static_cast<std::size_t>(shared)].add(flow);
      for (LevelLink& link : traffic.links) {
        const bool of_sender = levels.part(link.level, shape.rank) == link.part;
        const bool of_receiver = levels.part(link.level, step.peer) == link.part;
        if (of_sender && !of_receiver) link.out.add(flow);
        if (of_receiver && !of_sender) link.in.add(flow);
      }
    }
  }
  return traffic;
}

void expect_equal(const LevelTraffic& a, const LevelTraffic& b, const std::string& what) {
  EXPECT_EQ(a.between, b.between) << what;
  ASSERT_EQ(a.links.size(), b.links.size()) << what;
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].level, b.links[i].level) << what;
    EXPECT_EQ(a.links[i].part, b.links[i].part) << what;
    EXPECT_EQ(a.links[i].out, b.links[i].out) << what << ", link " << i;
    EXPECT_EQ(a.links[i].in, b.links[i].in) << what << ", link " << i;
  }
}

TEST(LevelTraffic, IsThatOfTheSchedulesOfEveryAlgorithm) {
  std::mt19937 random(46);
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    for (Rank p = 1; p <= largest; ++p) {
      if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
      const Selection selection{.algorithm = algorithm, .collective = collective};
      const Levels levels = random_levels(p, random);
      const Rank root = is_rooted(collective) ? static_cast<Rank>(random() % static_cast<unsigned>(p)) : 0;
      const std::string what = selection.id() + ", p = " + std::to_string(p);
      const Messages messages(selection, p, root);
      const LevelTraffic traffic = level_traffic(messages, levels);
      expect_equal(traffic, counted(selection, {.size = p, .root = root}, levels), what);
      EXPECT_EQ(flows_between(messages, levels), traffic.between);
      if (!can_relabel(collective)) continue;
      Shape shape{.size = p, .params = {{"relabel", 1}}, .labels = random_labels(p, random)};
      if (is_rooted(collective)) shape.root = shape.labels->rank(root);
      expect_equal(level_traffic(messages, levels, shape.labels.get()), counted(selection, shape, levels),
                   what + ", relabelled");
    }
  }
}

TEST(LevelTraffic, OfAParameterRelabel) {
  std::mt19937 random(7);
  const Selection selection = parse_selection("reduce_scatter/circulant_optimal:relabel=3");
  const Levels levels = random_levels(11, random);
  expect_equal(level_traffic(Messages(selection, 11), levels),
               counted(selection, {.size = 11, .params = selection.params}, levels), selection.text());
}

TEST(LevelTraffic, TheUnitIsAPartOfARanksVector) {
  EXPECT_EQ(Messages(parse_selection("allgather/ring"), 6).blocks(), 6);
  EXPECT_EQ(Messages(parse_selection("alltoall/pairwise"), 6).blocks(), 6);
  EXPECT_EQ(Messages(parse_selection("bcast/pipeline:segments=5"), 6).blocks(), 5);
  const Messages barrier(parse_selection("barrier/dissemination"), 6);
  EXPECT_EQ(barrier.weight({.messages = 3, .blocks = 0}), 3) << "a barrier has messages only";
}

TEST(LevelTraffic, TheBusiestLink) {
  // Rank 0 sends to 1, 2 and 3, of which the last two are in another group.
  const Levels levels = in_groups({0, 0, 1, 1});
  const Messages messages(parse_selection("bcast/linear"), 4);
  const LevelTraffic traffic = level_traffic(messages, levels);
  EXPECT_EQ(traffic.all(), (Flow{.messages = 3, .blocks = 3}));
  const LevelLink& group = busiest(messages, traffic, 0);
  EXPECT_EQ(group.part, 0);
  EXPECT_EQ(group.out.blocks, 2);
  const LevelLink& host = busiest(messages, traffic, 1);
  EXPECT_EQ(levels.part_name(1, host.part), "h0");
  EXPECT_EQ(host.out.blocks, 3);
}

bool is_order(std::vector<Rank> order, Rank p) {
  std::sort(order.begin(), order.end());
  for (Rank r = 0; r < p; ++r) {
    if (static_cast<Rank>(order.size()) != p || order[static_cast<std::size_t>(r)] != r) return false;
  }
  return true;
}

TEST(NearOrder, FollowsTheExchanges) {
  const auto order = [](const std::string& id, Rank p) { return near_order(Messages(parse_selection(id), p)); };
  std::vector<Rank> own(16);
  std::iota(own.begin(), own.end(), Rank{0});
  EXPECT_EQ(order("allreduce/rabenseifner", 16), own) << "near labels exchange most";
  // Neighbours on a ring are paired, and so are the pairs. Some are turned around.
  std::vector<Rank> ring = order("allgather/ring", 16);
  for (auto run = ring.begin(); run != ring.end(); run += 4) std::sort(run, run + 4);
  EXPECT_EQ(ring, own);
  // The longest messages go over p/2 ranks.
  EXPECT_EQ(order("allgather/circulant_optimal", 8), (std::vector<Rank>{0, 4, 2, 6, 1, 5, 3, 7}));
}

/// Everything that near_labels promises, for every algorithm and random places.
TEST(NearLabels, AreProvenForEveryAlgorithmAndNeverWorse) {
  std::mt19937 random(20251129);
  std::size_t proven = 0, better = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    if (!can_relabel(collective)) continue;
    for (Rank p = 1; p <= largest; ++p) {
      if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
      const Selection selection{.algorithm = algorithm, .collective = collective};
      const Messages messages(selection, p);
      const std::vector<Rank> near = near_order(messages);
      ASSERT_TRUE(is_order(near, p)) << selection.id() << " " << p;
      EXPECT_EQ(near.front(), 0);
      const Levels levels = random_levels(p, random);
      Shape shape{.size = p, .params = {{"relabel", 1}}};
      if (is_rooted(collective)) shape.root = static_cast<Rank>(random() % static_cast<unsigned>(p));
      const NearLabels labels = near_labels(messages, near, levels, shape.root);
      EXPECT_EQ(labels.labels.label(shape.root), 0);
      EXPECT_EQ(near_labels(messages, near, levels, shape.root).labels, labels.labels) << "all ranks find the same";
      if (shape.root == 0) {
        const auto before = messages.weight(flows_between(messages, levels).front());
        const auto after = messages.weight(flows_between(messages, levels, &labels.labels).front());
        EXPECT_LE(after, before) << selection.id() << " " << p;
        better += after < before ? 1 : 0;
      }
      shape.labels = std::make_shared<const Relabelling>(labels.labels);
      for (const bool in_place : {false, true}) {
        shape.in_place = in_place;
        const Verdict verdict = verify_algorithm(*algorithm, collective, shape);
        EXPECT_TRUE(verdict.proven()) << verdict.refutation->to_string();
        ++proven;
      }
    }
  }
  EXPECT_GT(proven, 1000U / (12 / largest));
  EXPECT_GT(better, largest == 12 ? 200U : 80U);  // few ranks gain less often
}

/// The vectors that pass between groups after relabelling.
double between_groups(const std::string& id, const Levels& levels) {
  const Messages messages(parse_selection(id), levels.size());
  const NearLabels labels = near_labels(messages, near_order(messages), levels);
  return static_cast<double>(flows_between(messages, levels, &labels.labels).front().blocks) /
         static_cast<double>(messages.blocks());
}

TEST(NearLabels, ReachTheLeastWhereGroupsArePowersOfTwo) {
  // A group must send its part of every block that lies elsewhere, and get it back: 2 (groups - 1) vectors in all.
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round) {
    const Levels levels = shuffled_groups({16, 16, 16, 16}, random);
    for (const std::string id : {"rabenseifner", "circulant_optimal", "bine"}) {
      EXPECT_DOUBLE_EQ(between_groups("allreduce/" + id, levels), 2 * 3) << id;
    }
    for (const std::string id : {"recursive_doubling", "circulant_optimal", "bine"}) {
      EXPECT_DOUBLE_EQ(between_groups("allgather/" + id, levels), 3) << id;
    }
    EXPECT_DOUBLE_EQ(between_groups("bcast/binomial", levels), 3);
    // The two longest exchanges of swing form a ring, so that no group is closed under them.
    EXPECT_LT(between_groups("allgather/swing", levels), 10);
    // A ring leaves each group once, with all but one block.
    EXPECT_DOUBLE_EQ(between_groups("allgather/ring", levels), 4 * 63 / 64.0);
  }
}

TEST(NearLabels, HelpAlsoWherePIsNoPowerOfTwo) {
  std::mt19937 random(5);
  const Levels levels = shuffled_groups({20, 9, 15, 7, 24}, random);
  for (const std::string id : {"allreduce/rabenseifner", "allreduce/circulant_optimal", "allgather/circulant_optimal",
                               "reduce_scatter/circulant_optimal", "allgather/ring", "bcast/binomial"}) {
    const Messages messages(parse_selection(id), levels.size());
    const double before =
        static_cast<double>(flows_between(messages, levels).front().blocks) / static_cast<double>(messages.blocks());
    EXPECT_LT(between_groups(id, levels), 0.8 * before) << id;
  }
}

/// The blocks between groups if the n-th rank has the n-th label.
std::int64_t between_by_orders(const Messages& messages, const Levels& levels, const std::vector<Rank>& ranks,
                               const std::vector<Rank>& of_ranks) {
  std::vector<Rank> labels(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) labels[static_cast<std::size_t>(ranks[i])] = of_ranks[i];
  const Relabelling relabelling(std::move(labels));
  return flows_between(messages, levels, &relabelling).front().blocks;
}

TEST(NearLabels, AreBetterThanEachOrderAlone) {
  std::mt19937 random(11);
  int better = 0, all = 0;
  for (const std::vector<int>& sizes :
       {std::vector<int>{20, 9, 15, 7, 24}, {33, 31}, {5, 6, 7, 8, 9, 10}, {40, 3, 3}}) {
    const Levels levels = shuffled_groups(sizes, random);
    for (const std::string id :
         {"allreduce/rabenseifner", "allreduce/circulant_optimal", "allgather/recursive_doubling",
          "bcast/circulant_pipelined", "bcast/binomial", "allgather/ring"}) {
      const Messages messages(parse_selection(id), levels.size());
      const std::vector<Rank> near = near_order(messages);
      std::vector<Rank> own(near.size());
      std::iota(own.begin(), own.end(), Rank{0});
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const std::vector<Rank>& ranks : {own, sorted_by_path(levels, 0), packed(levels, 0)}) {
        for (const std::vector<Rank>& labels : {own, near})
          least = std::min(least, between_by_orders(messages, levels, ranks, labels));
      }
      const NearLabels labels = near_labels(messages, near, levels);
      const std::int64_t found = flows_between(messages, levels, &labels.labels).front().blocks;
      EXPECT_LE(found, least) << id;
      better += found < least ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(better, all / 3) << "swaps improve the best of the orders";
}

TEST(NearLabels, RefusesUnequalSizes) {
  const Messages messages(parse_selection("allgather/ring"), 3);
  EXPECT_THROW((void)near_labels(messages, std::vector<Rank>{0, 1, 2}, in_groups({0, 1})), Error);
  EXPECT_THROW((void)near_labels(messages, std::vector<Rank>{0, 1}, in_groups({0, 1, 1})), Error);
  EXPECT_THROW((void)near_labels(messages, std::vector<Rank>{0, 1, 2}, in_groups({0, 1, 1}), 3), Error);
  EXPECT_THROW((void)level_traffic(messages, in_groups({0, 1})), Error);
}

}  // namespace
}  // namespace circoll
