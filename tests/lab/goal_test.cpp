// Schedules in forms of other tools, read back by small readers of their own.
#include "formats/formats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "circoll/verify.hpp"
#include "goal_reader.hpp"
#include "sim/sim.hpp"

namespace circoll {
namespace {

std::string goal_of(const Selection& selection, Rank p, Count bytes, double gamma = 0, bool on_arrival = false) {
  std::string text = goal_head(p);
  for (Schedule& s :
       build_all_ranks(*selection.algorithm, selection.collective,
                       {.size = p, .root = is_rooted(selection.collective) ? p / 2 : 0, .params = selection.params})) {
    if (on_arrival) s = combined_on_arrival(s, [](Rank) { return true; });
    text += to_goal(s, bytes, gamma);
  }
  return text;
}

TEST(Goal, HasTheCheckValueOfLogGopsim) {
  const Selection doubling = parse_selection("allreduce/recursive_doubling");
  EXPECT_EQ(time_of(read_goal(goal_of(doubling, 16, 65536)), 1000, 1), 266144);
  // Four combinations take their time.
  EXPECT_EQ(time_of(read_goal(goal_of(doubling, 16, 65536, 0.5)), 1000, 1), 266144 + 4 * 32768);
  EXPECT_EQ(time_of(read_goal(goal_of(doubling, 16, 65536, 0.5, true)), 1000, 1), 266144 + 4 * 32768);
}

TEST(Goal, IsReadBackForEveryAlgorithm) {
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (const Rank p : {2, 5, 8}) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      for (const Count bytes : {Count{0}, Count{1}, Count{1001}}) {
        const std::vector<RankItems> ranks = read_goal(goal_of(selection, p, bytes));
        EXPECT_GT(time_of(ranks, 1, 0), 0) << selection.id() << " p = " << p;
        // Both ends of a message have the same length.
        std::map<std::tuple<Rank, Rank, std::int64_t>, Count> sent;
        std::size_t received = 0;
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          for (const auto& [id, item] : ranks[r]) {
            if (item.what == "send") sent[{static_cast<Rank>(r), item.peer, item.tag}] = item.amount;
          }
        }
        for (std::size_t r = 0; r < ranks.size(); ++r) {
          for (const auto& [id, item] : ranks[r]) {
            if (item.what != "recv") continue;
            ++received;
            const std::tuple key{item.peer, static_cast<Rank>(r), item.tag};
            ASSERT_TRUE(sent.contains(key)) << selection.id();
            EXPECT_EQ(sent[key], item.amount) << selection.id();
          }
        }
        EXPECT_EQ(received, sent.size()) << selection.id();
      }
    }
  }
}

// The simulator gives the same graph the same time where ports are free.
TEST(Goal, TakesAsLongAsTheSimulatorSays) {
  for (const char* id : {"allreduce/recursive_doubling", "allreduce/circulant", "barrier/dissemination",
                         "allgather/bruck", "allreduce/ring"}) {
    const Selection selection = parse_selection(id);
    const sim::Network network{.between = {.latency_s = 50, .gap_s_per_byte = 3, .first_byte_free = false}};
    const double simulated = simulate(sim::Ranks(selection, 8), 8000, network).time_s;
    const double bytes = selection.collective == Collective::barrier ? 3 * 3 : 0;  // GOAL's least message has a byte
    EXPECT_NEAR(time_of(read_goal(goal_of(selection, 8, 8000)), 50, 3), simulated + bytes, 1e-9) << id;
  }
}

TEST(Goal, RefusesNonsense) {
  const Selection selection = parse_selection("bcast/binomial");
  const Schedule s = build_all_ranks(*selection.algorithm, selection.collective, {.size = 2})[0];
  EXPECT_THROW((void)to_goal(s, -1), Error);
  EXPECT_THROW((void)to_goal(s, 8, -1), Error);
}

TEST(Dot, HasEveryStepDependencyAndMessage) {
  const Selection selection = parse_selection("allreduce/circulant_optimal");
  const std::vector<Schedule> ranks = build_all_ranks(*selection.algorithm, selection.collective, {.size = 5});
  const std::string text = to_dot(ranks);
  const auto count = [&](std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
    return n;
  };
  std::size_t steps = 0, sends = 0, edges = 0;
  for (const Schedule& s : ranks) {
    steps += s.steps.size();
    edges += derive_dependencies(s).targets.size();
    for (const Step& step : s.steps) sends += step.kind == StepKind::send ? 1 : 0;
  }
  EXPECT_EQ(count("\\nround "), steps);
  EXPECT_EQ(count("style=dashed"), sends);
  EXPECT_EQ(count(" -> "), edges + sends);
  EXPECT_EQ(count("subgraph cluster_"), 5U);
  EXPECT_EQ(count("{"), count("}"));
  std::vector<Schedule> lost = ranks;
  lost[1].steps.clear();
  EXPECT_THROW((void)to_dot(lost), Error);
}

}  // namespace
}  // namespace circoll
