// Nodes that change places: proven for every algorithm, and never worse between the parts of the coarsest level.
#include "prepare/level_labels.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"
#include "circoll/verify.hpp"
#include "model/near_labels.hpp"

namespace circoll {
namespace {

#ifdef CIRCOLL_SANITIZED
constexpr Rank most_nodes = 5;
#else
constexpr Rank most_nodes = 8;
#endif

/// Nodes of one or two ranks in blocks.
Placement unequal(Rank nodes, std::mt19937& random) {
  std::vector<Rank> node_of;
  for (Rank n = 0; n < nodes; ++n) node_of.insert(node_of.end(), 1 + random() % 2, n);
  return placement_of(node_of);
}

/// Ranks in blocks, or dealt to the nodes in turn.
Placement placed(Rank nodes, Rank cores, bool dealt) {
  std::vector<Rank> node_of;
  for (Rank r = 0; r < nodes * cores; ++r) node_of.push_back(dealt ? r % nodes : r / cores);
  return placement_of(node_of);
}

/// Nodes below two or three groups, drawn at random.
Levels random_nodes(Rank nodes, std::mt19937& random) {
  std::vector<std::vector<std::string>> paths;
  for (Rank n = 0; n < nodes; ++n) {
    const auto group = n == 0 ? 0 : random() % 3;
    paths.push_back({std::to_string(group), std::to_string(n)});
  }
  return Levels(std::move(paths));
}

/// The levels of the ranks whose nodes have these.
Levels of_ranks(const Levels& nodes, const Placement& placement) {
  std::vector<std::vector<std::string>> paths;
  for (const Rank node : *placement.node_of)
    paths.push_back({nodes.part_name(0, nodes.part(0, node)), std::to_string(node)});
  return Levels(std::move(paths));
}

/// Without levels. Algorithms for nodes know dealt ranks node by node.
Shape shape_of(const Selection& selection, const Placement& placement, Rank root) {
  Shape shape{.size = static_cast<Rank>(placement.node_of->size()),
              .root = root,
              .params = selection.params,
              .labels = placement.labels};
  if (auto labels = labels_for_nodes(selection, placement);
      labels != nullptr && shape.params.try_emplace("relabel", placement.cores).second)
    shape.labels = std::move(labels);
  return shape;
}

/// Blocks of all messages between the groups, step by step.
std::int64_t between_groups(const Selection& selection, Shape shape, const Levels& levels, bool moves_data) {
  std::int64_t blocks = 0;
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) {
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::send && levels.part(0, shape.rank) != levels.part(0, step.peer))
        blocks += moves_data ? schedule.count(step.left) : 1;
    }
  }
  return blocks;
}

/// Proves an algorithm on nodes that changed places, with and without labels across nodes. The number of proofs.
int proven_on(const Algorithm& algorithm, Collective collective, const Levels& levels, const Placement& placement,
              Rank root) {
  const auto labels = std::make_shared<LevelLabels>(levels, placement);
  if (!labels->moves_nodes()) return 0;  // one group, or no two nodes are alike
  int proven = 0;
  for (const bool across : {false, true}) {
    if (across && !can_relabel(collective)) continue;
    Selection selection{.algorithm = &algorithm, .collective = collective};
    if (across) selection.params.emplace("relabel", placement.cores);
    const std::string what =
        selection.id() + ":" + selection.text() + " on " + std::to_string(levels.size()) + " nodes";
    const LevelLabels::Found found = labels->find(selection, root);
    EXPECT_EQ(found.labels, labels->find(selection, root).labels) << "found once";
    if (found.labels == nullptr) continue;
    EXPECT_TRUE(can_relabel(collective)) << what;
    Shape shape = shape_of(selection, placement, root);
    shape.params.try_emplace("relabel", placement.cores);
    shape.labels = found.labels;
    for (const bool in_place : {false, true}) {
      shape.in_place = in_place;
      const Verdict verdict = verify_algorithm(algorithm, collective, shape);
      EXPECT_TRUE(verdict.proven()) << what << ": " << verdict.refutation->to_string();
    }
    shape.in_place = false;
    const bool moves = traits_of(collective).moves_data;
    const Levels all = of_ranks(levels, placement);
    const std::int64_t before = between_groups(selection, shape_of(selection, placement, root), all, moves);
    const std::int64_t after = between_groups(selection, shape, all, moves);
    EXPECT_LT(after, before) << what << ", root " << root;
    EXPECT_EQ(found.percent, 100 * (before - after) / before) << what << ", root " << root;
    ++proven;
  }
  return proven;
}

TEST(LevelLabels, AreProvenForEveryAlgorithmAndSaveWhatTheySay) {
  std::mt19937 random(45);
  int proven = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (Rank nodes = 3; nodes <= most_nodes; ++nodes) {
      const Collective collective =
          algorithm->collectives[static_cast<std::size_t>(nodes) % algorithm->collectives.size()];
      const Levels levels = random_nodes(nodes, random);
      for (const Placement& placement :
           {placed(nodes, nodes % 2 == 0 ? 1 : 2, nodes % 3 == 0), unequal(nodes, random)}) {
        const auto p = static_cast<Rank>(placement.node_of->size());
        const Rank root = is_rooted(collective) ? static_cast<Rank>(random() % static_cast<unsigned>(p)) : 0;
        if (unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty())
          proven += proven_on(*algorithm, collective, levels, placement, root);
      }
    }
  }
  EXPECT_GT(proven, 100);
}

TEST(LevelLabels, RanksOfANodeStayTogether) {
  // Ranks 2n and 2n + 1 are of node n. The groups are those of even and odd nodes.
  const Placement placement = placed(8, 2, false);
  std::vector<std::vector<std::string>> paths;
  for (int n = 0; n < 8; ++n) paths.push_back({std::to_string(n % 2), std::to_string(n)});
  const auto labels = std::make_shared<LevelLabels>(Levels(std::move(paths)), placement);
  const LevelLabels::Found ring = labels->find(parse_selection("allgather/ring"), 0);
  ASSERT_NE(ring.labels, nullptr);
  EXPECT_EQ(ring.level, 0);
  EXPECT_EQ(ring.percent, 75) << "2 of 8 edges between nodes";
  for (Rank r = 0; r < 16; r += 2) {
    EXPECT_EQ(ring.labels->label(r) % 2, 0);
    EXPECT_EQ(ring.labels->label(r + 1), ring.labels->label(r) + 1);
  }
  EXPECT_EQ(labels->find(parse_selection("allreduce/recursive_doubling:relabel=2"), 0).level, 0);
}

TEST(LevelLabels, NodesTakePlacesOfNodesWithAsManyRanks) {
  // The last of nine nodes has one rank. The groups are those of even and odd nodes.
  std::vector<Rank> node_of;
  std::vector<std::vector<std::string>> paths;
  for (Rank n = 0; n < 9; ++n) {
    node_of.insert(node_of.end(), n < 8 ? 4 : 1, n);
    paths.push_back({std::to_string(n % 2), std::to_string(n)});
  }
  LevelLabels labels(Levels(std::move(paths)), placement_of(node_of));
  const LevelLabels::Found ring = labels.find(parse_selection("allgather/ring"), 0);
  ASSERT_NE(ring.labels, nullptr);
  EXPECT_EQ(ring.percent, 75) << "2 of 8 edges, for the edge to node 0 stays in its group";
  EXPECT_EQ(ring.labels->label(32), 32);
}

TEST(LevelLabels, OneScheduleIsEnoughForManyRanks) {
  constexpr Rank nodes = 4096, cores = 8;
  std::vector<std::vector<std::string>> paths;
  for (Rank n = 0; n < nodes; ++n) paths.push_back({std::to_string(n / 64), std::to_string(n)});
  LevelLabels labels(Levels(std::move(paths)), placed(nodes, cores, false));
  const LevelLabels::Found found = labels.find(parse_selection("allreduce/circulant_optimal"), 0);
  ASSERT_NE(found.labels, nullptr);
  EXPECT_GT(found.percent, 50);
  EXPECT_EQ(labels.find(parse_selection("allreduce/rabenseifner"), 0).labels, nullptr) << "all would be built";
}

TEST(LevelLabels, AreNoneWhereTheyCannotHelp) {
  const Placement placement = placed(4, 1, false);
  const auto levels = [](const std::vector<std::string>& groups) {
    std::vector<std::vector<std::string>> paths;
    for (std::size_t n = 0; n < groups.size(); ++n) paths.push_back({groups[n], std::to_string(n)});
    return Levels(std::move(paths));
  };
  const auto moves = [&](const std::vector<std::string>& groups, const Placement& of) {
    LevelLabels labels(levels(groups), of);
    return labels.moves_nodes() || labels.find(parse_selection("allgather/ring"), 0).labels != nullptr;
  };
  EXPECT_FALSE(moves({"a", "a", "a", "a"}, placement)) << "one group";
  EXPECT_FALSE(moves({"a", "b", "a"}, placement_of(std::vector<Rank>{0, 0, 1, 2, 2, 2}))) << "no two nodes are alike";
  EXPECT_FALSE(moves({"a", "b"}, placed(2, 2, false))) << "two nodes";

  const auto dealt = std::make_shared<LevelLabels>(levels({"a", "b", "a", "b"}), placement);
  EXPECT_NE(dealt->find(parse_selection("allgather/ring"), 0).labels, nullptr);
  for (const char* const id : {"scan/recursive_doubling", "alltoall/pairwise", "allgather/linear"})
    EXPECT_EQ(dealt->find(parse_selection(id), 0).labels, nullptr) << id;
  const auto sorted = std::make_shared<LevelLabels>(levels({"a", "a", "b", "b"}), placement);
  EXPECT_EQ(sorted->find(parse_selection("allgather/ring"), 0).labels, nullptr) << "they are in order already";
}

TEST(LevelLabels, DoNotDependOnTheOrderOfQuestions) {
  std::mt19937 random(11);
  const Placement placement = placed(8, 1, false);
  const Levels levels = random_nodes(8, random);
  LevelLabels some(levels, placement), others(levels, placement);
  // More questions than are remembered.
  for (std::int64_t segments = 1; segments <= 20; ++segments) {
    for (Rank root = 0; root < 8; ++root) {
      for (const char* const id : {"bcast/pipeline", "reduce/pipeline"}) {
        Selection selection = parse_selection(id);
        selection.params.emplace("segments", segments);
        (void)others.find(selection, root);
      }
    }
  }
  for (Rank root = 0; root < 8; ++root) {
    const Selection selection = parse_selection("bcast/pipeline:segments=16");
    const auto a = some.find(selection, root).labels, b = others.find(selection, root).labels;
    ASSERT_EQ(a == nullptr, b == nullptr);
    EXPECT_TRUE(a == nullptr || *a == *b);
    EXPECT_EQ(others.find(parse_selection("bcast/pipeline:segments=99"), root).labels, b) << "as with fewer segments";
  }
}

}  // namespace
}  // namespace circoll
