// Recorded programs in GOAL and Chakra: the same computation, messages and time.
#include "whatif/export.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "goal_reader.hpp"

namespace circoll::whatif {
namespace {

constexpr double latency_ns = 1000;

Machine machine() {
  Machine machine;
  machine.alpha_s = latency_ns * 1e-9;
  machine.gamma_s_per_byte = 0.25e-9;
  machine.f_alpha = machine.f_beta = 1;
  machine.node_ways.clear();
  return machine;
}

/// Calls with other loads on each rank: on all ranks, on pairs, nonblocking, and on one rank.
trace::Trace recorded() {
  trace::Trace trace;
  trace.facts.ranks = 8;
  for (Rank rank = 0; rank < 8; ++rank) {
    trace::RankTrace of;
    of.facts = {.rank = rank, .begin_ns = 100 * rank};
    of.communicators = {{},
                        {.kind = trace::Communicator::Kind::some, .members = {rank | 1, rank & ~Rank{1}}},
                        {.kind = trace::Communicator::Kind::some, .members = {rank}}};
    of.shapes = {{.collective = Collective::allreduce, .count = 8, .element_bytes = 8, .served = "recursive_doubling"},
                 {.collective = Collective::allreduce, .communicator = 1, .count = 100, .served = "recursive_doubling"},
                 {.collective = Collective::allgather, .mode = CallMode::nonblocking, .count = 16, .served = "bruck"},
                 {.collective = Collective::barrier, .served = "dissemination"},
                 {.collective = Collective::bcast, .communicator = 2, .count = 8, .served = "native"}};
    std::int64_t now = 0;
    for (std::uint32_t i = 0; i < 15; ++i) {
      const std::int64_t begin = now + 500 * (1 + (3 * rank + i) % 7);
      now = begin + 50;
      of.calls.push_back({.shape = i % 5, .begin_ns = begin, .end_ns = now});
    }
    of.facts.end_ns = now + 1234 * rank;
    trace.ranks.push_back(of);
  }
  return trace;
}

std::string goal_of(const Program& program) {
  std::string text;
  write_goal(program, as_served(machine(), ""), machine(), [&](std::string_view part) { text += part; });
  return text;
}

TEST(WhatIfExport, GoalTakesAsLongAsThePlayerSays) {
  Program program = program_of(recorded(), 8);
  const auto compare = [&] {
    // The reader of the test has no ports, and no price of bytes makes messages wait for one.
    Player player(machine());
    player.set_link({.latency_s = latency_ns * 1e-9});
    const double played_s = player.play(program, as_served(machine(), "")).run_s;
    // GOAL has whole nanoseconds, here of fifteen times between calls.
    EXPECT_NEAR(time_of(read_goal(goal_of(program)), latency_ns, 0), played_s * 1e9, 8);
    EXPECT_GT(played_s * 1e9, 15 * latency_ns);
  };
  compare();
  balance(program);
  compare();
}

TEST(WhatIfExport, GoalPairsEachMessageWithOneReceive) {
  const std::vector<RankItems> ranks = read_goal(goal_of(program_of(recorded(), 8)));
  std::set<std::tuple<Rank, Rank, std::int64_t>> sent;
  std::set<std::tuple<Rank, Rank, std::int64_t>> received;
  std::size_t messages = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const auto& [id, item] : ranks[r]) {
      const auto me = static_cast<Rank>(r);
      if (item.what == "send") sent.emplace(me, item.peer, item.tag);
      if (item.what == "recv") received.emplace(item.peer, me, item.tag);
      messages += item.what == "send" ? 1 : 0;
    }
  }
  EXPECT_EQ(sent, received);
  EXPECT_EQ(sent.size(), messages) << "tags tell messages apart";
  // Three allreduces and barriers of three rounds, three allgathers of three, and three allreduces of pairs.
  EXPECT_EQ(messages, 8U * (3 * 3 + 3 * 3 + 3 * 3 + 3 * 1));
}

/// Numbers of nodes and what they wait for: a reader of the fields 1 and 5 of each message behind the first.
struct Node {
  std::uint64_t id = 0;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> waits_for;
};

std::vector<Node> read_chakra(const std::string& file) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < file.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(file[at++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80U) break;
    }
    return value;
  };
  at += varint();  // the metadata
  std::vector<Node> nodes;
  while (at < file.size()) {
    const std::size_t length = varint();
    const std::size_t end = at + length;
    Node node;
    while (at < end) {
      const std::uint64_t key = varint();
      if ((key & 7U) == 0) {
        const std::uint64_t value = varint();
        if (key >> 3U == 1) node.id = value;
        if (key >> 3U == 3) node.type = value;
        continue;
      }
      const std::size_t bytes = varint();
      const std::size_t stop = at + bytes;
      while (key >> 3U == 5 && at < stop) node.waits_for.push_back(varint());
      at = stop;
    }
    nodes.push_back(node);
  }
  EXPECT_EQ(at, file.size());
  return nodes;
}

TEST(WhatIfExport, ChakraHasTheItemsOfGoal) {
  const Program program = program_of(recorded(), 8);
  const std::vector<RankItems> goal = read_goal(goal_of(program));
  for (Rank rank = 0; rank < 8; ++rank) {
    std::string file;
    write_chakra(program, as_served(machine(), ""), machine(), rank, [&](std::string_view part) { file += part; });
    const std::vector<Node> nodes = read_chakra(file);
    EXPECT_EQ(nodes.size(), goal[static_cast<std::size_t>(rank)].size());
    std::set<std::uint64_t> before;
    std::size_t sends = 0, edges = 0, goal_sends = 0, goal_edges = 0;
    for (const Node& node : nodes) {
      EXPECT_TRUE(before.insert(node.id).second) << "numbers differ";
      sends += node.type == 5 ? 1 : 0;
      edges += node.waits_for.size();
      for (const std::uint64_t one : node.waits_for) EXPECT_TRUE(before.contains(one));
    }
    for (const auto& [id, item] : goal[static_cast<std::size_t>(rank)]) {
      goal_sends += item.what == "send" ? 1 : 0;
      goal_edges += item.requires_.size();
    }
    EXPECT_EQ(sends, goal_sends);
    EXPECT_EQ(edges, goal_edges);
  }
}

}  // namespace
}  // namespace circoll::whatif
