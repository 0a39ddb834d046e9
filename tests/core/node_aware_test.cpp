// Exchanges through nodes: proofs and costs for many nodes and parameters, messages between nodes, memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "circoll/local.hpp"
#include "circoll/select.hpp"
#include "circoll/verify.hpp"
#include "model/traffic.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

// Sanitizers make every access dear: fewer p, not fewer parameters.
#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 20;
#else
constexpr Rank last_size = 64;
#endif
constexpr std::int64_t all = 1 << 20;  // no digits, or all ranks of a node

const Algorithm& node_aware() { return *find_algorithm(Collective::alltoall, "node_aware"); }

Shape shape_of(Rank p, std::int64_t cores, std::int64_t radix = all, std::int64_t leaders = all) {
  return {.size = p, .params = {{"cores", cores}, {"radix", radix}, {"leaders", leaders}}};
}

TEST(NodeAware, IsProvenWithItsCosts) {
  int proven = 0;
  for (Rank p = 1; p <= last_size; ++p) {
    for (const std::int64_t cores : {1, 2, 3, 4, 5, 6, 7, 8, 13}) {
      for (const std::int64_t radix : {std::int64_t{2}, std::int64_t{3}, all}) {
        for (const std::int64_t leaders : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, all}) {
          const Shape shape = shape_of(p, cores, radix, leaders);
          const Verdict verdict = verify_algorithm(node_aware(), Collective::alltoall, shape);
          ASSERT_TRUE(verdict.proven()) << verdict.refutation->to_string();
          CriticalPath declared = critical_path(node_aware(), Collective::alltoall, shape);
          declared.levels = verdict.path.levels;  // not said
          ASSERT_EQ(verdict.path, declared) << p << " " << cores << " " << radix << " " << leaders;
          ASSERT_EQ(verdict.counted, node_aware().cost(shape)) << p << " " << cores << " " << radix << " " << leaders;
          ++proven;
        }
      }
    }
  }
  EXPECT_EQ(proven, last_size * 9 * 3 * 4);
}

/// Ranks that lie anywhere on nodes of `cores`, of which one may have fewer.
std::vector<Rank> scattered(Rank p, Rank cores, unsigned seed) {
  std::vector<Rank> node_of;
  for (Rank r = 0; r < p; ++r) node_of.push_back(r / cores);
  std::shuffle(node_of.begin(), node_of.end(), std::mt19937(seed));
  return node_of;
}

TEST(NodeAware, IsProvenForRanksThatLieAnywhere) {
  for (Rank p = 2; p <= 24; ++p) {
    for (const Rank cores : {2, 3, 4, 5}) {
      const Placement placement = placement_of(scattered(p, cores, static_cast<unsigned>(p)));
      if (placement.in_order == nullptr) continue;  // they happen to lie node by node
      Shape shape = shape_of(p, cores);
      shape.params.emplace("relabel", cores);
      shape.labels = placement.in_order;
      const Verdict verdict = verify_algorithm(node_aware(), Collective::alltoall, shape);
      ASSERT_TRUE(verdict.proven()) << verdict.refutation->to_string();
      // As many messages cross as where the ranks lie node by node.
      std::int64_t messages = 0;
      for (shape.rank = 0; shape.rank < p; ++shape.rank) {
        for (const Step& step : build_schedule(node_aware(), Collective::alltoall, shape).steps)
          messages += step.kind == StepKind::send && !placement.together(shape.rank, step.peer) ? 1 : 0;
      }
      if (p % cores == 0) {
        EXPECT_EQ(messages, p / cores * (p / cores - 1) * cores) << p << " " << cores;
      }
    }
  }
}

/// Ranks that lie anywhere on nodes of any sizes.
std::vector<Rank> scattered_unevenly(const std::vector<Rank>& sizes, unsigned seed) {
  std::vector<Rank> node_of;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    node_of.insert(node_of.end(), static_cast<std::size_t>(sizes[node]), static_cast<Rank>(node));
  std::shuffle(node_of.begin(), node_of.end(), std::mt19937(seed));
  return node_of;
}

TEST(NodeAware, IsProvenForNodesOfAnySizes) {
  const std::vector<std::vector<Rank>> all_sizes{{4, 3, 3}, {4, 4, 2, 2}, {5, 3, 7}, {3, 3, 2, 2, 2}, {2, 1, 4, 4, 4}};
  for (const std::vector<Rank>& sizes : all_sizes) {
    const Placement placement = placement_of(scattered_unevenly(sizes, 7));
    ASSERT_NE(placement.in_order, nullptr);
    const auto p = placement.in_order->size();
    for (const std::int64_t radix : {std::int64_t{2}, all}) {
      for (const std::int64_t leaders : {std::int64_t{1}, std::int64_t{2}, all}) {
        Shape shape = shape_of(p, placement.group, radix, leaders);
        shape.params.emplace("relabel", placement.cores);
        shape.labels = placement.in_order;
        const Verdict verdict = verify_algorithm(node_aware(), Collective::alltoall, shape);
        ASSERT_TRUE(verdict.proven()) << verdict.refutation->to_string();
      }
    }
  }
}

TEST(NodeAware, SendsFewMessagesBetweenNodesOfAboutTheSameSize) {
  const std::vector<Rank> sizes{9, 8, 8, 8, 8, 8};
  const Placement placement = placement_of(scattered_unevenly(sizes, 3));
  const auto p = placement.in_order->size();
  Shape shape = shape_of(p, placement.group);
  shape.params.emplace("relabel", placement.cores);
  shape.labels = placement.in_order;
  std::int64_t messages = 0;
  for (shape.rank = 0; shape.rank < p; ++shape.rank) {
    for (const Step& step : build_schedule(node_aware(), Collective::alltoall, shape).steps)
      messages += step.kind == StepKind::send && !placement.together(shape.rank, step.peer) ? 1 : 0;
  }
  // Eight carriers of six groups each. One rank is in the last group and on the first node: it exchanges messages with
  // eight others, and gets one more from its carrier.
  EXPECT_EQ(messages, 6 * 5 * 8 + 2 * 8 + 1);
}

TEST(NodeAware, IsExecutedForRanksThatLieAnywhere) {
  const auto policy = make_rules_policy(
      R"({"circoll_rules": 1, "alltoall": [{"use": "node_aware"}], "allreduce": [{"use": "leaders"}], )"
      R"("bcast": [{"use": "leaders"}]})",
      "rules");
  for (const std::vector<Rank>& node_of :
       {scattered(8, 3, 1), scattered(9, 3, 1), scattered(12, 3, 1), scattered_unevenly({4, 3, 3, 2}, 1)}) {
    const auto p = static_cast<Rank>(node_of.size());
    local::Options options;
    options.node_of = node_of;
    ASSERT_NE(placement_of(options.node_of).in_order, nullptr);
    local::World world(p, options);
    world.run([&](local::Comm& comm) {
      const auto number = [p](Rank from, Rank to) { return static_cast<std::int64_t>(from * p + to); };
      std::vector<std::int64_t> mine, theirs;
      for (Rank r = 0; r < p; ++r) {
        mine.push_back(number(comm.rank(), r));
        theirs.push_back(number(r, comm.rank()));
      }
      EXPECT_EQ(alltoall(mine, comm, *policy), theirs);
      const std::vector<std::int64_t> one{comm.rank()};
      EXPECT_EQ(allreduce(one, Op::sum, comm, *policy), std::vector<std::int64_t>{p * (p - 1) / 2});
      for (Rank root = 0; root < p; ++root) {
        std::vector<std::int64_t> data{comm.rank() == root ? 7 + root : 0};
        bcast(data, root, comm, *policy);
        EXPECT_EQ(data[0], 7 + root);
      }
    });
  }
}

struct Crossing {
  std::int64_t messages = 0;
  std::int64_t blocks = 0;
  std::int64_t most_scratch = 0;  ///< blocks, at one rank
};

Crossing crossing(const Shape& of, Rank cores) {
  Crossing sum;
  Shape shape = of;
  for (shape.rank = 0; shape.rank < shape.size; ++shape.rank) {
    const Schedule schedule = build_schedule(node_aware(), Collective::alltoall, shape);
    for (const Step& step : schedule.steps) {
      if (step.kind != StepKind::send || step.peer / cores == shape.rank / cores) continue;
      ++sum.messages;
      sum.blocks += schedule.count(step.left);
    }
    std::int64_t scratch = 0;
    for (std::size_t i = first_scratch_buffer; i < schedule.buffers.size(); ++i) scratch += schedule.buffers[i].slots;
    sum.most_scratch = std::max(sum.most_scratch, scratch);
  }
  return sum;
}

TEST(NodeAware, CrossesOnceForEachPairOfNodesAndCarrier) {
  // Six nodes of 4: each block crosses once.
  for (const std::int64_t leaders : {1, 2, 4}) {
    const Crossing direct = crossing(shape_of(24, 4, all, leaders), 4);
    EXPECT_EQ(direct.messages, 6 * 5 * leaders);
    EXPECT_EQ(direct.blocks, 24 * 20);
  }
  EXPECT_EQ(node_aware().cost(shape_of(24, 4)).sent, 2 * (24 - 4) + 3 - 5);
  // By binary digits of the distance, 1 to 5: 3 messages of each carrier, and 7 hops for 5 distances.
  const Crossing digits = crossing(shape_of(24, 4, 2), 4);
  EXPECT_EQ(digits.messages, 6 * 4 * 3);
  EXPECT_EQ(digits.blocks, 24 * 4 * 7);
}

TEST(NodeAware, KeepsNoMoreThanItsOwnData) {
  for (const Rank nodes : {2, 5, 16}) {
    for (const Rank cores : {2, 4, 8}) {
      const Rank p = nodes * cores;
      EXPECT_LE(crossing(shape_of(p, cores), cores).most_scratch, p);
    }
  }
}

TEST(NodeAware, TakesALastNodeWithFewRanksIntoTheNodeBefore) {
  // 9 ranks on nodes of 4: rank 8 is one of the second node, which has carriers as the first one.
  const Shape shape = shape_of(9, 4);
  EXPECT_EQ(node_aware().cost(shape).rounds, 4 + 1 + 1);
  // 11 ranks: three nodes, and three carriers on each.
  EXPECT_EQ(node_aware().cost(shape_of(11, 4)).rounds, 3 + 2 + 1);
}

const Machine cluster{.name = "cluster",
                      .alpha_s = 2e-6,
                      .beta_s_per_byte = 0.08e-9,
                      .gamma_s_per_byte = 0.01e-9,
                      .f_alpha = 1,
                      .f_beta = 1,
                      .node_alpha_s = 0.6e-6,
                      .node_beta_s_per_byte = 0.05e-9};

TEST(NodeAware, IsTakenWhereTheModelPredictsTheLeastTime) {
  const auto policy = make_policy("model", {.machine = cluster});
  const auto choice = [&](Count block, Rank cores) {
    CallFacts facts = facts_of(Collective::alltoall, 288, 288 * block, Op::sum, Type::float64);
    facts.cores = cores;
    return policy->decide(facts);
  };
  for (const Count block : {512, 4096}) {
    const Decision decision = choice(block, 16);
    ASSERT_EQ(decision.selection->algorithm, &node_aware()) << decision.reason;
    EXPECT_EQ(decision.selection->params.at("cores"), 16);
    // One of all radices is a candidate, and its time is that of its traffic.
    const auto is_one = [](const Candidate& c) { return c.selection.algorithm == &node_aware(); };
    EXPECT_EQ(std::ranges::count_if(decision.candidates, is_one), 1);
    const Selection& best = *decision.selection;
    EXPECT_DOUBLE_EQ(decision.candidates.front().seconds, seconds(traffic_of(best, 288, 16), 288 * block, cluster));
    for (const std::int64_t radix : {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{8}, all}) {
      Selection other = best;
      other.params.insert_or_assign("radix", radix);
      EXPECT_GE(seconds(traffic_of(other, 288, 16), 288 * block, cluster), decision.candidates.front().seconds);
    }
  }
  EXPECT_NE(choice(512, 1).selection->algorithm, &node_aware());
  EXPECT_NE(choice(512, 288).selection->algorithm, &node_aware());
}

}  // namespace
}  // namespace circoll
