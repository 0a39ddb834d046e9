// Relabelling of ranks: the permutations, and proofs that every algorithm stays right under any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "circoll/text.hpp"
#include "circoll/verify.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

std::vector<Rank> labels_of(const Relabelling& relabelling) {
  std::vector<Rank> labels;
  for (Rank r = 0; r < relabelling.size(); ++r) labels.push_back(relabelling.label(r));
  return labels;
}

TEST(Relabelling, LabelsGoAcrossNodes) {
  // Nodes {0, 1, 2}, {3, 4, 5}: label = core * nodes + node.
  EXPECT_EQ(labels_of(Relabelling::across_nodes(6, 3)), (std::vector<Rank>{0, 2, 4, 1, 3, 5}));
  // The last node has one rank only, and so drops out after the first core.
  EXPECT_EQ(labels_of(Relabelling::across_nodes(7, 3)), (std::vector<Rank>{0, 3, 5, 1, 4, 6, 2}));
  EXPECT_EQ(labels_of(Relabelling::across_nodes(4, 1)), (std::vector<Rank>{0, 1, 2, 3}));
  EXPECT_EQ(labels_of(Relabelling::across_nodes(4, 9)), (std::vector<Rank>{0, 1, 2, 3}));
}

TEST(Relabelling, AnyPlacement) {
  // Nodes numbered and filled in any order; the order of nodes is that of their first ranks.
  EXPECT_EQ(labels_of(Relabelling::across_nodes(std::vector<Rank>{7, 7, 2, 7, 2, 5})),
            (std::vector<Rank>{0, 3, 1, 5, 4, 2}));
  for (Rank p = 1; p <= 40; ++p) {
    for (Rank cores = 1; cores <= p + 1; ++cores) {
      std::vector<Rank> node_of;
      for (Rank r = 0; r < p; ++r) node_of.push_back(r / cores);
      EXPECT_EQ(Relabelling::across_nodes(p, cores), Relabelling::across_nodes(node_of)) << p << " " << cores;
    }
  }
}

TEST(Relabelling, RankIsTheInverseOfLabel) {
  const Relabelling relabelling({2, 0, 3, 1});
  for (Rank r = 0; r < 4; ++r) EXPECT_EQ(relabelling.rank(relabelling.label(r)), r);
}

TEST(Relabelling, RefusesWhatIsNoPermutation) {
  EXPECT_THROW(Relabelling({0, 0}), Error);
  EXPECT_THROW(Relabelling({0, 2}), Error);
  EXPECT_THROW(Relabelling({-1, 0}), Error);
  EXPECT_THROW((void)Relabelling::across_nodes(0, 1), Error);
  EXPECT_THROW((void)Relabelling::across_nodes(1, 0), Error);
  const Schedule schedule = build_schedule("bcast/binomial", {.size = 4});
  EXPECT_THROW((void)relabelled(schedule, Relabelling({0, 1, 2})), Error);
}

#ifdef CIRCOLL_SANITIZED
constexpr Rank largest = 6;
#else
constexpr Rank largest = 12;
#endif

TEST(Relabelling, EveryAlgorithmUnderAnyPermutation) {
  std::mt19937 random(20240229);
  std::size_t proven = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    if (!can_relabel(collective)) continue;
    for (Rank p = 1; p <= largest; ++p) {
      if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
      std::vector<Rank> labels(static_cast<std::size_t>(p));
      std::iota(labels.begin(), labels.end(), Rank{0});
      std::shuffle(labels.begin(), labels.end(), random);
      Shape shape{.size = p, .root = is_rooted(collective) ? static_cast<Rank>(random() % labels.size()) : 0};
      shape.params["relabel"] = 1;
      shape.labels = std::make_shared<const Relabelling>(labels);
      for (const bool in_place : {false, true}) {
        shape.in_place = in_place;
        const Verdict verdict = verify_algorithm(*algorithm, collective, shape);
        EXPECT_TRUE(verdict.proven()) << verdict.refutation->to_string();
        ++proven;
      }
    }
  }
  EXPECT_GT(proven, 1000U / (12 / largest));
}

TEST(Relabelling, ByTheParameter) {
  for (const std::string id :
       {"allreduce/circulant_optimal", "reduce_scatter/circulant_optimal", "allgatherv/ring", "alltoall/bruck",
        "gather/binomial", "scatterv/circulant", "bcast/circulant_pipelined:segments=3", "reduce/binomial"}) {
    for (const Rank cores : {2, 3, 4}) {
      const Selection selection =
          parse_selection(id + (id.find(':') == std::string::npos ? ":" : ",") + "relabel=" + std::to_string(cores));
      const RangeVerdict verdict = verify_range({selection}, {.first = 1, .last = largest, .all_roots = true}).front();
      EXPECT_FALSE(verdict.refutation.has_value()) << id << " " << verdict.refutation->to_string();
      EXPECT_GE(verdict.instances, largest) << id;
    }
  }
}

/// Blocks that leave the node of the ranks that send them, over all ranks.
std::int64_t crossing(const std::string& id, Rank p, Rank cores) {
  std::int64_t blocks = 0;
  for (Rank r = 0; r < p; ++r) {
    const Schedule schedule = build_schedule(id, {.size = p, .rank = r});
    for (const Step& step : schedule.steps) {
      if (step.kind == StepKind::send && step.peer / cores != r / cores) blocks += schedule.count(step.left);
    }
  }
  return blocks;
}

TEST(Relabelling, KeepsLongSkipsInsideTheNode) {
  // 36 nodes of 32: of 1151 blocks that a rank sends, 35 cross the network with relabelling, and nearly all do without
  // it.
  constexpr Rank p = 144, cores = 16, nodes = 9;
  EXPECT_EQ(crossing("reduce_scatter/circulant_optimal:relabel=16", p, cores), p * (nodes - 1));
  EXPECT_GT(crossing("reduce_scatter/circulant_optimal", p, cores), p * (p - p / 8));
}

TEST(Relabelling, KeepsTheVectorInOnePieceWhereBlocksBelongToNobody) {
  // The parts into which an allreduce cuts its vector have no owner, so that only peers change.
  const Schedule plain = build_schedule("allreduce/circulant_optimal", {.size = 12, .rank = 5});
  const Relabelling labels = Relabelling::across_nodes(12, 4);
  const Schedule moved = build_schedule("allreduce/circulant_optimal:relabel=4", {.size = 12, .rank = labels.rank(5)});
  EXPECT_EQ(moved.ranges, plain.ranges);
  EXPECT_EQ(moved.buffers, plain.buffers);
  ASSERT_EQ(moved.steps.size(), plain.steps.size());
  for (std::size_t i = 0; i < plain.steps.size(); ++i) {
    const Rank peer = plain.steps[i].peer;
    EXPECT_EQ(moved.steps[i].peer, peer < 0 ? peer : labels.rank(peer));
  }
}

TEST(Relabelling, WhereItCanNotBe) {
  EXPECT_THROW((void)parse_selection("scan/recursive_doubling:relabel=2"), Error);
  EXPECT_THROW((void)parse_selection("allreduce/ring:relabel=0"), Error);
  EXPECT_THROW((void)relabelled(build_schedule("exscan/linear", {.size = 3}), Relabelling({0, 1, 2})), Error);
  const OperatorTraits ordered{.commutative = false, .idempotent = false};
  EXPECT_EQ(unmet_need(parse_selection("allreduce/recursive_doubling"), 8, ordered), "");
  EXPECT_NE(unmet_need(parse_selection("allreduce/recursive_doubling:relabel=2"), 8, ordered), "");
  EXPECT_EQ(unmet_need(parse_selection("bcast/binomial:relabel=2"), 8, ordered), "");
  EXPECT_THROW((void)make_rules_policy(
                   R"({"circoll_rules": 1, "allreduce": [{"use": "recursive_doubling:relabel=2"}]})", "rules"),
               Error);
}

TEST(Relabelling, IsWrittenAndReadBack) {
  const Schedule schedule = build_schedule("allgather/bruck:relabel=2", {.size = 5, .rank = 3});
  EXPECT_EQ(schedule.shape.params.at("relabel"), 2);
  EXPECT_EQ(schedule_from_text(to_text(schedule)), normalised(schedule));
}

}  // namespace
}  // namespace circoll
