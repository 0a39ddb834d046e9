// The cost model on nodes: the counts from schedules, and the model's prices for them.
#include "model/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "schedule/relabelling.hpp"
#include "select/machine.hpp"

namespace circoll {
namespace {

const Machine cluster{.name = "cluster",
                      .alpha_s = 2e-6,
                      .beta_s_per_byte = 0.08e-9,
                      .gamma_s_per_byte = 0.01e-9,
                      .f_alpha = 1,
                      .f_beta = 1,
                      .node_alpha_s = 0.6e-6,
                      .node_beta_s_per_byte = 0.05e-9};

double crossing(const Traffic& traffic) {
  double sum = 0;
  for (const Traffic::Round& round : traffic.rounds) sum += std::max(round.across, 0.0);
  return sum;
}

TEST(Traffic, IsTheFlatModelWhereEveryRankHasANode) {
  Machine flat = cluster;
  flat.node_alpha_s = 0;
  flat.node_beta_s_per_byte = 0;
  for (const std::string id :
       {"allreduce/circulant_optimal", "reduce_scatter_block/circulant", "allgather/bruck", "alltoall/pairwise",
        "allreduce/recursive_doubling", "barrier/dissemination", "reduce_scatter_block/recursive_halving"}) {
    for (const Rank p : {2, 7, 16, 33}) {
      const Selection selection = parse_selection(id);
      const Traffic traffic = traffic_of(selection, p, 1);
      const Count bytes = selection.collective == Collective::barrier ? 0 : 1000000;
      const double expected = seconds(terms_of(selection, p, bytes), flat);
      // Some ranks of recursive doubling wait in the first and last round; the others are all alike.
      if (id == "allreduce/recursive_doubling" && (p & (p - 1)) != 0) continue;
      EXPECT_NEAR(seconds(traffic, bytes, flat), expected, 1e-9 * expected + 1e-15) << id << " p=" << p;
      for (const Traffic::Round& round : traffic.rounds) EXPECT_LT(round.inside, 0) << id;
    }
  }
}

TEST(Traffic, OfOneNodeNeverCrosses) {
  const Traffic traffic = traffic_of(parse_selection("allgather/circulant_optimal"), 24, 24);
  EXPECT_EQ(crossing(traffic), 0);
  const Traffic roomy = traffic_of(parse_selection("allgather/circulant_optimal"), 24, 100);
  EXPECT_EQ(crossing(roomy), 0);
  EXPECT_DOUBLE_EQ(seconds(traffic, 1 << 20, cluster), seconds(roomy, 1 << 20, cluster));
}

TEST(Traffic, RelabelledOnlyShortSkipsCross) {
  // 35 of 1151 blocks of each of the 32 ranks of a node.
  const Traffic across = traffic_of(parse_selection("reduce_scatter_block/circulant_optimal:relabel=32"), 1152, 32);
  EXPECT_EQ(crossing(across), 35 * 32);
  const Traffic flat = traffic_of(parse_selection("reduce_scatter_block/circulant_optimal"), 1152, 32);
  EXPECT_GT(crossing(flat), 30 * crossing(across));
  EXPECT_EQ(across.blocks, 1152);
  EXPECT_EQ(across.combined, 1151);
}

TEST(Traffic, OfLeadersCrossesOncePerNode) {
  // 36 nodes of 32 ranks: the root's node sends n blocks and a few more. Any other node gets n, and passes on as many.
  const Traffic bcast = traffic_of(parse_selection("bcast/leaders:cores=32,segments=16"), 1152, 32);
  EXPECT_EQ(crossing(bcast), 16 - 1 + 6);
  const Traffic reduce = traffic_of(parse_selection("reduce/leaders:cores=32,segments=16"), 1152, 32);
  EXPECT_EQ(crossing(reduce), 16 - 1 + 6);
  // Recursive doubling among 36 leaders: 5 rounds, and 2 since 36 is not a power of two.
  EXPECT_EQ(crossing(traffic_of(parse_selection("allreduce/leaders:cores=32"), 1152, 32)), 7);
  EXPECT_EQ(crossing(traffic_of(parse_selection("allreduce/leaders:cores=32"), 30, 32)), 0);
  // On the circulant graph leaders need as many rounds as any number of nodes does.
  EXPECT_EQ(crossing(traffic_of(parse_selection("allreduce/leaders_circulant:cores=32"), 1152, 32)), 6);
}

TEST(Traffic, OfLeadersThatCollectIsOneMessagePerNode) {
  // The blocks of 35 nodes, each once through the port of the root's node, straight or over other leaders.
  for (const char* id :
       {"gather/leaders:cores=32,radix=36", "gather/leaders:cores=32,radix=2", "scatter/leaders:cores=32"}) {
    EXPECT_EQ(crossing(traffic_of(parse_selection(id), 1152, 32)), 35 * 32) << id;
  }
  const auto messages_between_nodes = [](const Selection& selection, Rank p, Rank cores) {
    int messages = 0;
    for (Rank rank = 0; rank < p; ++rank) {
      const Schedule schedule = build_schedule(*selection.algorithm, selection.collective,
                                               {.size = p, .rank = rank, .root = 5, .params = selection.params});
      for (const Step& step : schedule.steps) {
        if (step.kind == StepKind::send && step.peer / cores != rank / cores) ++messages;
      }
    }
    return messages;
  };
  for (const std::int64_t radix : {2, 3, 5}) {
    Selection gather = parse_selection("gather/leaders:cores=4");
    gather.params.insert_or_assign("radix", radix);
    EXPECT_EQ(messages_between_nodes(gather, 18, 4), 4) << radix;
  }
  EXPECT_EQ(messages_between_nodes(parse_selection("gather/linear"), 18, 4), 14);
}

TEST(Traffic, CountsTheLastNodeThatHasFewerRanks) {
  // A chain of 5 ranks on nodes of 2: from node to node twice.
  const Traffic traffic = traffic_of(parse_selection("bcast/pipeline:segments=1"), 5, 2);
  int crossings = 0;
  for (const Traffic::Round& round : traffic.rounds) crossings += round.across >= 0 ? 1 : 0;
  EXPECT_EQ(crossings, 2);
}

/// The traffic of all nodes, from the schedules of all ranks.
std::vector<Traffic::Round> counted_plainly(const Selection& selection, Rank p, Rank cores) {
  Shape shape{.size = p, .params = selection.params};
  if (shape.params.contains("relabel"))
    shape.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(p, cores));
  std::vector<Traffic::Round> rounds;
  for (Rank node = 0; node * cores < p; ++node) {
    std::vector<double> out, in;
    for (shape.rank = node * cores; shape.rank < std::min(p, (node + 1) * cores); ++shape.rank) {
      const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
      if (schedule.rounds > rounds.size()) rounds.resize(schedule.rounds);
      out.resize(rounds.size(), -1);
      in.resize(rounds.size(), -1);
      for (const Step& step : schedule.steps) {
        if (!is_message(step)) continue;
        const auto blocks = static_cast<double>(schedule.count(message_operand(step)));
        double& inside = rounds[step.round].inside;
        double& port = step.kind == StepKind::send ? out[step.round] : in[step.round];
        if (step.peer / cores == node) {
          inside = std::max(inside, blocks);
        } else {
          port = std::max(port, 0.0) + blocks;
        }
      }
    }
    for (std::size_t k = 0; k < out.size(); ++k) rounds[k].across = std::max({rounds[k].across, out[k], in[k]});
  }
  return rounds;
}

TEST(Traffic, OfOneRankIsThatOfAllWhereRanksAreAlike) {
  const std::vector<std::string> ids{"allreduce/circulant_optimal",
                                     "allreduce/circulant_optimal:relabel=4",
                                     "allgather/bruck:relabel=4",
                                     "reduce_scatter_block/circulant",
                                     "barrier/dissemination:relabel=4",
                                     "alltoall/linear",
                                     "alltoall/bruck:relabel=4",
                                     "alltoall/node_aware:cores=4",
                                     "alltoall/node_aware:cores=4,radix=2",
                                     "alltoall/node_aware:cores=4,leaders=3,radix=3"};
  for (const std::string& id : ids) {
    const Selection selection = parse_selection(id);
    for (const Rank p : {4, 8, 12, 28, 40}) {
      const std::vector<Traffic::Round> rounds = traffic_of(selection, p, 4).rounds;
      const std::vector<Traffic::Round> expected = counted_plainly(selection, p, 4);
      ASSERT_EQ(rounds.size(), expected.size()) << id << " p=" << p;
      for (std::size_t k = 0; k < rounds.size(); ++k) {
        EXPECT_EQ(rounds[k].inside, expected[k].inside) << id << " p=" << p << " round " << k;
        EXPECT_EQ(rounds[k].across, expected[k].across) << id << " p=" << p << " round " << k;
      }
    }
  }
}

TEST(Traffic, RefusesNonsense) {
  const Selection selection = parse_selection("bcast/binomial");
  EXPECT_THROW((void)traffic_of(selection, 0, 1), Error);
  EXPECT_THROW((void)traffic_of(selection, 4, 0), Error);
  EXPECT_THROW((void)traffic_of(selection, 4, 2, 4), Error);
  EXPECT_THROW((void)traffic_of({}, 4, 2), Error);
}

TEST(ModelOnNodes, RelabelsWhereManyRanksShareAPort) {
  const auto policy = make_policy("model", {.machine = cluster});
  CallFacts facts = facts_of(Collective::reduce_scatter_block, 1152, 1152 * 8192, Op::sum, Type::float32);
  facts.cores = 32;
  const Decision decision = policy->decide(facts);
  ASSERT_TRUE(decision.selection.has_value());
  EXPECT_EQ(decision.selection->params.at("relabel"), 32);
  EXPECT_NE(decision.reason.find("on nodes of 32"), std::string::npos) << decision.reason;
  // Candidates come with their times, best first, and the first one is the choice.
  EXPECT_EQ(decision.candidates.front().selection.text(), decision.selection->text());
  EXPECT_TRUE(
      std::is_sorted(decision.candidates.begin(), decision.candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds * (1 - 1e-5); }));
  EXPECT_EQ(policy->decide(facts).selection->text(), decision.selection->text());  // from memory
}

TEST(ModelOnNodes, TakesLeadersWhereNodesAreFilledInOrder) {
  const auto policy = make_policy("model", {.machine = cluster});
  CallFacts facts{.collective = Collective::bcast, .p = 1152, .bytes = 1 << 18, .cores = 32};
  const Decision decision = policy->decide(facts);
  EXPECT_EQ(decision.selection->algorithm->name, "leaders") << decision.reason;
  EXPECT_EQ(decision.selection->params.at("cores"), 32);
  EXPECT_FALSE(decision.selection->params.contains("relabel"));
  const auto considered = [&] {
    const std::vector<Candidate> candidates = policy->decide(facts).candidates;
    return std::any_of(candidates.begin(), candidates.end(),
                       [](const Candidate& c) { return c.selection.algorithm->name == "leaders"; });
  };
  EXPECT_TRUE(considered());
  facts.node_by_node = false;
  EXPECT_FALSE(considered());
  facts.group = 31;
  EXPECT_TRUE(considered());
  EXPECT_EQ(policy->decide(facts).selection->params.at("cores"), 31);
  facts.collective = Collective::allreduce;
  EXPECT_TRUE(considered());
  facts.op.commutative = false;
  EXPECT_FALSE(considered()) << "operands keep their order";
  facts = {.collective = Collective::bcast, .p = 1152, .bytes = 1 << 18};
  EXPECT_FALSE(considered());
}

TEST(ModelOnNodes, DoesNotWhereNodesMakeNoDifference) {
  const auto policy = make_policy("model", {.machine = cluster});
  for (const Rank cores : {1, 48, 100}) {
    CallFacts facts = facts_of(Collective::reduce_scatter_block, 48, 48 * 8192, Op::sum, Type::float32);
    facts.cores = cores;
    EXPECT_FALSE(policy->decide(facts).selection->params.contains("relabel")) << cores;
  }
}

TEST(ModelOnNodes, KeepsTheNeedsOfTheCall) {
  const auto policy = make_policy("model", {.machine = cluster});
  for (const Collective collective : all_collectives) {
    for (const bool commutative : {false, true}) {
      for (const Count bytes : {Count{8}, Count{100000}}) {
        CallFacts facts{.collective = collective,
                        .p = 22,
                        .bytes = Amounts::of_vector(collective, 22, bytes).deciding_bytes(),
                        .cores = 4};
        if (is_reducing(collective)) facts.op.commutative = commutative;
        facts.exact_op = commutative;
        const Decision decision = policy->decide(facts);
        ASSERT_TRUE(decision.selection.has_value()) << decision.reason;
        EXPECT_EQ(why_not(*decision.selection, facts, false), "") << decision.selection->id();
        if (!can_relabel(collective)) {
          EXPECT_FALSE(decision.selection->params.contains("relabel"));
        }
      }
    }
  }
}

TEST(Placement, IsPlainWhereNodesAreFilledInOrder) {
  const Placement plain = placement_of(std::vector<Rank>{5, 5, 5, 1, 1, 1, 2});
  EXPECT_EQ(plain.cores, 3);
  EXPECT_EQ(plain.nodes, 3);
  EXPECT_EQ(plain.labels, nullptr);
  EXPECT_EQ(*plain.node_of, (std::vector<Rank>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_TRUE(plain.together(3, 5));
  EXPECT_FALSE(plain.together(2, 3));
  EXPECT_FALSE(Placement{}.together(0, 0));
  const Placement alone = placement_of(std::vector<Rank>{0, 1, 2});
  EXPECT_EQ(alone.cores, 1);
  EXPECT_EQ(alone.labels, nullptr);
}

TEST(Placement, HasLabelsOtherwise) {
  const Placement dealt = placement_of(std::vector<Rank>{0, 1, 0, 1});  // by rank modulo nodes: across already
  EXPECT_EQ(dealt.cores, 2);
  ASSERT_NE(dealt.labels, nullptr);
  for (Rank r = 0; r < 4; ++r) EXPECT_EQ(dealt.labels->label(r), r);
  ASSERT_NE(dealt.in_order, nullptr);
  EXPECT_EQ(*dealt.in_order, Relabelling({0, 2, 1, 3}));
  const Placement uneven = placement_of(std::vector<Rank>{0, 1, 1, 1});
  EXPECT_EQ(uneven.cores, 3);
  EXPECT_EQ(uneven.nodes, 2);
  ASSERT_NE(uneven.labels, nullptr);
  EXPECT_EQ(*uneven.in_order, Relabelling({3, 0, 1, 2})) << "the smallest node is the last";
  EXPECT_EQ(uneven.group, 3);
  EXPECT_EQ(placement_of(std::vector<Rank>{0, 0, 1}).in_order, nullptr) << "not needed";
}

/// The nodes of ranks that lie node by node, sizes[i] on node i.
std::vector<Rank> nodes_of_sizes(const std::vector<Rank>& sizes) {
  std::vector<Rank> node_of;
  for (std::size_t node = 0; node < sizes.size(); ++node)
    node_of.insert(node_of.end(), static_cast<std::size_t>(sizes[node]), static_cast<Rank>(node));
  return node_of;
}

TEST(Placement, HasGroupsWhereNodesHaveAnyNumbersOfRanks) {
  const Placement balanced = placement_of(nodes_of_sizes({34, 33, 33}));
  EXPECT_EQ(balanced.group, 33);
  EXPECT_EQ(balanced.group_split, 0) << "the rank that is left is a group by itself";
  EXPECT_EQ(balanced.in_order->label(32), 32);
  EXPECT_EQ(balanced.in_order->label(33), 99) << "the rank that is left";
  EXPECT_EQ(balanced.in_order->label(34), 33);
  EXPECT_EQ(placement_of(nodes_of_sizes({4, 2, 2})).group, 2);
  EXPECT_EQ(placement_of(nodes_of_sizes({4, 2, 2})).group_split, 0);
  EXPECT_EQ(placement_of(nodes_of_sizes({5, 4, 4, 3})).group_split, 1) << "three ranks of one node, and one of another";
  EXPECT_EQ(placement_of(nodes_of_sizes({2, 3, 3, 2})).group, 3);
  EXPECT_EQ(*placement_of(nodes_of_sizes({5, 4, 4, 3})).in_order,
            Relabelling({0, 1, 2, 3, 15, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(placement_of(nodes_of_sizes({48, 24, 48, 24})).group, 24);
  std::vector<Rank> many(20, 33);
  many.resize(36, 32);
  EXPECT_EQ(placement_of(nodes_of_sizes(many)).group, 32);
  EXPECT_EQ(placement_of(nodes_of_sizes({1, 2, 1})).in_order, nullptr) << "a group of two would have two nodes";
}

TEST(ModelOnNodes, KnowsThatLongMessagesInsideGroupsMayLeaveTheNode) {
  const auto policy = make_policy("model", {.machine = cluster});
  const auto goes_through_nodes = [&](Count bytes, Rank split) {
    CallFacts facts{.collective = Collective::bcast, .p = 1152, .bytes = bytes, .cores = 33};
    facts.node_by_node = false;
    facts.group = 32;
    facts.group_split = split;
    return is_for_nodes(*policy->decide(facts).selection->algorithm);
  };
  EXPECT_TRUE(goes_through_nodes(1 << 18, 0));
  EXPECT_FALSE(goes_through_nodes(1 << 18, 8));
  const Selection leaders = parse_selection("bcast/leaders:cores=4,segments=2");
  const Traffic whole = traffic_of(leaders, 16, 4), split = on_groups(whole, 1, 2);
  double inside = 0;
  for (const Traffic::Round& round : whole.rounds) inside += std::max(round.inside, 0.0);
  EXPECT_GT(inside, 0);
  EXPECT_EQ(split.shared, whole.shared + 2 * inside);
  EXPECT_GT(seconds(split, 1 << 20, cluster), 1.5 * seconds(whole, 1 << 20, cluster));
  const Traffic together = on_groups(whole, 3, 0);
  for (std::size_t k = 0; k < whole.rounds.size(); ++k) {
    EXPECT_EQ(together.rounds[k].across, whole.rounds[k].across < 0 ? -1 : 3 * whole.rounds[k].across);
    EXPECT_EQ(together.rounds[k].inside, whole.rounds[k].inside);
  }
}

TEST(Placement, HasGroupsThatAreNearlyAllOnOneNode) {
  std::mt19937 random(1);
  int with = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<Rank> sizes(2 + random() % 8);
    for (Rank& size : sizes) size = static_cast<Rank>(1 + random() % 9);
    std::vector<Rank> node_of = nodes_of_sizes(sizes);
    std::shuffle(node_of.begin(), node_of.end(), random);
    const Placement placement = placement_of(node_of);
    if (placement.in_order == nullptr) {
      EXPECT_EQ(placement.group, 0);
      continue;
    }
    ++with;
    const auto p = static_cast<Rank>(node_of.size());
    Rank elsewhere = 0;
    for (Rank label = 0; label < p; ++label) {
      const Rank first = placement.in_order->rank(label - label % placement.group);
      if (!placement.together(first, placement.in_order->rank(label))) ++elsewhere;
    }
    EXPECT_LT(4 * elsewhere, p);
  }
  EXPECT_GT(with, 200);
}

TEST(Machine, LevelsAreReadAndWritten) {
  const Machine read = machine_from_json(to_json(cluster, "measured"), "file");
  EXPECT_EQ(read.node_alpha_s, cluster.node_alpha_s);
  EXPECT_EQ(read.node_beta_s_per_byte, cluster.node_beta_s_per_byte);
  const Machine flat = machine_from_json(to_json(Machine{}, ""), "file");
  EXPECT_EQ(flat.node_alpha_s, 0);
  EXPECT_EQ(flat.within_alpha_s(), flat.alpha_s);
  EXPECT_EQ(flat.within_beta_s_per_byte(), flat.beta_s_per_byte);
  EXPECT_THROW((void)machine_from_json(R"({"circoll_machine": 1, "name": "x", "alpha_s": 1e-6, "beta_s_per_byte": 1e-9,
                                           "gamma_s_per_byte": 1e-9, "node_alpha_s": 0})",
                                       "file"),
               Error);
}

}  // namespace
}  // namespace circoll
