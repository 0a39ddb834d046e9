// The model where all ranks share one node: the ways of messages, in files and in decisions.
#include <string>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/select.hpp"
#include "gtest/gtest.h"
#include "select/machine.hpp"

namespace circoll {
namespace {

/// Short messages have no bandwidth to speak of, and long ones no latency.
const Machine two_ways{
    .name = "two ways",
    .node_ways = {{.name = "long", .from_bytes = 1000, .alpha_s = 8, .beta_s_per_byte = 0.25, .gamma_s_per_byte = 0.5},
                  {.name = "short", .from_bytes = 0, .alpha_s = 1, .beta_s_per_byte = 2, .gamma_s_per_byte = 4}}};

TEST(InsideNode, AMessageGoesTheWayOfItsLength) {
  const std::vector<MachineForLength> machines = machines_inside(two_ways);
  ASSERT_EQ(machines.size(), 2U);
  // Two rounds of 999.5 bytes, and of 1000; 10 bytes are combined.
  EXPECT_EQ(seconds(Terms{.alpha = 2, .bytes = 1999, .combined = 10}, machines), 2 * 1 + 1999 * 2 + 10 * 4);
  EXPECT_EQ(seconds(Terms{.alpha = 2, .bytes = 2000, .combined = 10}, machines), 2 * 8 + 2000 * 0.25 + 10 * 0.5);
  // One-way rounds count, at the price of the machine.
  EXPECT_EQ(seconds(Terms{.alpha = 1, .alpha_uni = 1, .bytes = 1000, .bytes_uni = 999}, machines),
            1.8 * 1 + (1000 + 0.8 * 999) * 2);
  EXPECT_EQ(seconds(Terms{}, machines), 0);
}

/// Two of five rounds wait for the rounds before them.
TEST(InsideNode, RoundsThatDoNotWaitCostAnOverhead) {
  const Terms terms{.alpha = 5, .bytes = 100, .levels = 2};
  const Machine plain{.alpha_s = 8, .beta_s_per_byte = 1};
  EXPECT_EQ(seconds(terms, plain), 5 * 8 + 100);
  const Machine overlapping{.alpha_s = 8, .beta_s_per_byte = 1, .overhead_s = 2};
  EXPECT_EQ(seconds(terms, overlapping), 2 * 8 + 3 * 2 + 100);
  // One way a round may cost less than where ranks send and receive.
  const Machine two{
      .alpha_s = 8, .beta_s_per_byte = 1, .f_alpha = 1, .f_beta = 1, .overhead_s = 2, .overhead_both_s = 4};
  EXPECT_EQ(seconds(terms, two), 2 * 8 + 3 * 4 + 100);
  EXPECT_EQ(seconds(Terms{.alpha_uni = 5, .bytes_uni = 100, .levels = 2}, two), 2 * 8 + 3 * 2 + 100);
  EXPECT_EQ(seconds(Terms{.alpha = 2, .alpha_uni = 2, .levels = 2}, two), 2 * 8 + 2 * 3);
  // Without levels all rounds wait.
  EXPECT_EQ(seconds(Terms{.alpha = 5, .bytes = 100}, overlapping), 5 * 8 + 100);

  const Machine ways{.node_ways = {{.name = "w", .alpha_s = 8, .beta_s_per_byte = 1, .overhead_s = 2}},
                     .crowded_s = 100};
  EXPECT_EQ(seconds(terms, machines_inside(ways)), 2 * 8 + 3 * 2 + 100);
  EXPECT_EQ(seconds(terms, machines_inside(ways, true)), 2 * 108 + 3 * 2 + 100);
  const Machine without{.alpha_s = 8, .beta_s_per_byte = 1, .crowded_s = 100};
  EXPECT_EQ(seconds(terms, machines_inside(without, true)), 2 * 108 + 3 * 8 + 100);
}

/// One rank sends the same 100 bytes to three, in three rounds of one level, and each of them receives 100.
TEST(InsideNode, WhatIsReadIsPaidByTheReceiver) {
  const Terms terms{.alpha = 3, .bytes = 300, .received = 100, .levels = 1};
  const Machine written{.alpha_s = 1, .beta_s_per_byte = 1};
  Machine read = written;
  read.read = true;
  EXPECT_EQ(seconds(terms, written), 3 + 300);
  EXPECT_EQ(seconds(terms, read), 3 + 100);
  // A rank that receives all of it, or a chain, gains nothing.
  EXPECT_EQ(seconds(Terms{.alpha = 3, .bytes = 300, .received = 300, .levels = 1}, read), 3 + 300);
  EXPECT_EQ(seconds(Terms{.alpha = 3, .bytes = 300, .received = 100, .levels = 3}, read), 3 + 300);
  EXPECT_EQ(seconds(Terms{.alpha = 3, .bytes = 300, .received = 100}, read), 3 + 300);
}

/// Ranks that take turns lose the processor whenever they wait, and only then.
TEST(InsideNode, WhereRanksTakeTurnsFewerLevelsAreBetter) {
  const auto levels = [](Collective collective, bool crowded) {
    CallFacts facts = facts_of(collective, 8, 64, Op::sum, Type::float64);
    facts.cores = 8;
    facts.crowded = crowded;
    const Decision decision = default_policy().decide(facts);
    const Shape shape{.size = 8, .params = decision.selection->params};
    const std::int64_t levels = critical_path(*decision.selection->algorithm, collective, shape).levels;
    return levels > 0 ? levels : decision.selection->algorithm->cost(shape).rounds;
  };
  for (const Collective collective :
       {Collective::allreduce, Collective::allgather, Collective::reduce_scatter_block, Collective::alltoall,
        Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter, Collective::barrier}) {
    EXPECT_EQ(levels(collective, true), 1) << to_string(collective);
    EXPECT_GE(levels(collective, false), 1) << to_string(collective);
  }
  EXPECT_EQ(levels(Collective::allreduce, false), 3);
}

TEST(InsideNode, WithoutWaysTheNodesCoefficientsCount) {
  const Machine levels{.node_alpha_s = 3, .node_beta_s_per_byte = 5};
  const std::vector<MachineForLength> machines = machines_inside(levels);
  ASSERT_EQ(machines.size(), 1U);
  EXPECT_EQ(seconds(Terms{.alpha = 1, .bytes = 7}, machines), 3 + 7 * 5);
  EXPECT_EQ(seconds(Terms{.alpha = 1}, machines_inside(Machine{})), Machine{}.alpha_s);
}

TEST(InsideNode, WaysAreReadAndWritten) {
  EXPECT_EQ(machine_from_json(to_json(two_ways), "file").node_ways, two_ways.node_ways);
  EXPECT_EQ(machine_from_json(to_json(default_machine()), "file").node_ways, default_machine().node_ways);
  EXPECT_TRUE(machine_from_json(to_json(Machine{}), "file").node_ways.empty());
  const Machine read =
      machine_from_json(to_json(Machine{.overhead_s = 3, .overhead_both_s = 4, .crowded_s = 5}), "file");
  EXPECT_EQ(read.overhead_s, 3);
  EXPECT_EQ(read.overhead_both_s, 4);
  EXPECT_EQ(read.crowded_s, 5);
  const std::string head = R"({"circoll_machine": 1, "name": "x", "alpha_s": 1, "beta_s_per_byte": 1,
                               "gamma_s_per_byte": 1, "node_ways": )";
  const std::string way = R"({"name": "w", "from_bytes": 0, "alpha_s": 1, "beta_s_per_byte": 1, "gamma_s_per_byte": 1)";
  EXPECT_EQ(machine_from_json(head + "[" + way + "}]}", "file").node_ways.size(), 1U);
  EXPECT_TRUE(machine_from_json(head + "[" + way + R"(, "read": true}]})", "file").node_ways.front().read);
  for (const std::string& wrong : std::vector<std::string>{
           "[]", "1", "[1]", "[" + way + ", \"more\": 1}]", "[" + way + ", \"read\": 1}]", "[{\"name\": \"w\"}]",
           std::string(
               R"([{"name": "w", "from_bytes": -1, "alpha_s": 1, "beta_s_per_byte": 1, "gamma_s_per_byte": 1}])"),
           std::string(
               R"([{"name": "w", "from_bytes": 0, "alpha_s": 0, "beta_s_per_byte": 1, "gamma_s_per_byte": 1}])")}) {
    EXPECT_THROW((void)machine_from_json(head + wrong + "}", "file"), Error) << wrong;
  }
}

/// One algorithm exchanges halves twice and combines half. The other one sends the whole vector once and combines it.
/// The second is better if combining is cheap and beginning a message is expensive.
TEST(InsideNode, DecisionsFollowTheWay) {
  const Machine machine{
      .node_ways = {
          {.name = "begin", .from_bytes = 0, .alpha_s = 1, .beta_s_per_byte = 1e-3, .gamma_s_per_byte = 1e-9},
          {.name = "combine", .from_bytes = 4096, .alpha_s = 1e-9, .beta_s_per_byte = 1e-3, .gamma_s_per_byte = 1}}};
  const auto policy = make_policy("model", {.machine = machine});
  const auto rounds = [&](Count bytes, Rank cores) {
    CallFacts facts = facts_of(Collective::allreduce, 2, bytes, Op::sum, Type::float64);
    facts.cores = cores;
    const Decision decision = policy->decide(facts);
    return decision.selection->algorithm->cost(Shape{.size = 2, .params = decision.selection->params}).rounds;
  };
  EXPECT_EQ(rounds(1024, 2), 1);
  EXPECT_EQ(rounds(65536, 2), 2);
  EXPECT_EQ(rounds(1024, 1), 1);
  CallFacts facts = facts_of(Collective::allreduce, 2, 1024, Op::sum, Type::float64);
  facts.cores = 2;
  EXPECT_NE(policy->decide(facts).reason.find("inside one node"), std::string::npos);
  facts.cores = 1;
  EXPECT_EQ(policy->decide(facts).reason.find("inside one node"), std::string::npos);
}

}  // namespace
}  // namespace circoll
