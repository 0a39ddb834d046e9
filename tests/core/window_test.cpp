// Windows: at most so many messages of a rank are under way, and every algorithm stays proven.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/collectives.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "circoll/transform.hpp"
#include "circoll/verify.hpp"

namespace circoll {
namespace {

#ifdef CIRCOLL_SANITIZED
constexpr Rank largest = 7;
#else
constexpr Rank largest = 17;
#endif

/// The messages of one kind that wait for no other message's end; answers are none.
std::size_t most_under_way(const Schedule& schedule, StepKind kind) {
  std::vector<bool> waits(schedule.steps.size(), false);
  for (const auto& [earlier, later] : schedule.edges) waits[later] = true;
  std::size_t free = 0;
  for (StepIndex s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (step.kind == kind && schedule.count(message_operand(step)) > 0 && !waits[s]) ++free;
  }
  return free;
}

TEST(Window, EveryAlgorithmIsProvenInWindows) {
  std::size_t proven = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      for (const std::int64_t window : {1, 2, 3}) {
        Selection selection{algorithm, collective, {{"window", window}}};
        if (algorithm->param("segments") != nullptr) selection.params["segments"] = 3;
        const RangeVerdict verdict =
            verify_range({selection}, {.first = 1, .last = largest, .all_roots = true}).front();
        EXPECT_FALSE(verdict.refutation.has_value()) << selection.text() << " " << verdict.refutation->to_string();
        proven += static_cast<std::size_t>(verdict.instances);
      }
    }
  }
  EXPECT_GT(proven, 1000U);
}

TEST(Window, EveryAlgorithmThatCombinesOnArrivalIsProvenInWindows) {
  const OnArrival everywhere = [](Rank, Rank) { return true; };
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    if (!is_reducing(collective)) continue;
    for (Rank p = 1; p <= largest / 2; ++p) {
      if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
      const Verdict verdict =
          verify_algorithm(*algorithm, collective, {.size = p, .params = {{"window", 1}}}, everywhere);
      EXPECT_TRUE(verdict.proven()) << verdict.refutation->to_string();
    }
  }
}

TEST(Window, BoundsTheMessagesUnderWay) {
  for (const std::int64_t window : {1, 2, 5}) {
    const std::string parameter = ":window=" + std::to_string(window);
    const Schedule root = build_schedule("scatter/linear" + parameter, {.size = 9, .rank = 0});
    EXPECT_EQ(most_under_way(root, StepKind::send), static_cast<std::size_t>(window));
    const Schedule any = build_schedule("alltoall/linear" + parameter, {.size = 9, .rank = 4});
    EXPECT_EQ(most_under_way(any, StepKind::send), static_cast<std::size_t>(window));
    EXPECT_EQ(most_under_way(any, StepKind::recv), static_cast<std::size_t>(window));
  }
  EXPECT_EQ(most_under_way(build_schedule("scatter/linear", {.size = 9, .rank = 0}), StepKind::send), 8U);
}

TEST(Window, TheNextMessageWaitsForTheAnswerToTheLast) {
  const Schedule root = build_schedule("scatter/binomial:window=1", {.size = 4, .rank = 0});
  ASSERT_EQ(root.rounds, 4U);
  std::vector<StepIndex> sends, answers;
  for (StepIndex s = 0; s < root.steps.size(); ++s) {
    if (root.steps[s].kind == StepKind::send) sends.push_back(s);
    if (root.steps[s].kind == StepKind::recv) answers.push_back(s);
  }
  ASSERT_EQ(sends.size(), 2U);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(root.steps[answers[0]].peer, root.steps[sends[0]].peer);
  EXPECT_EQ(root.count(root.steps[answers[0]].dst), 0);
  EXPECT_NE(std::find(root.edges.begin(), root.edges.end(), std::pair{answers[0], sends[1]}), root.edges.end());
}

TEST(Window, TheAnswerBeginsBeforeWhatIsSentOn) {
  const Schedule inner = build_schedule("bcast/binomial:window=1", {.size = 4, .rank = 2});
  const Dependencies dependencies = derive_dependencies(inner);
  ASSERT_EQ(inner.steps[0].kind, StepKind::recv);
  const auto next = dependencies.successors(0);
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(inner.steps[next[0]].peer, inner.steps[0].peer);
  EXPECT_EQ(inner.count(message_operand(inner.steps[next[0]])), 0);
  EXPECT_EQ(inner.steps[next[1]].kind, StepKind::send);
  for (StepIndex s = 0; s < inner.steps.size(); ++s) EXPECT_TRUE(std::ranges::is_sorted(dependencies.successors(s)));
}

TEST(Window, IsAParameterOfEveryAlgorithm) {
  EXPECT_EQ(parse_selection("scan/recursive_doubling:window=2").text(), "recursive_doubling:window=2");
  EXPECT_THROW((void)parse_selection("allreduce/ring:window=0"), Error);
  const Schedule schedule = build_schedule("allgather/bruck:relabel=2,window=1", {.size = 5, .rank = 3});
  EXPECT_EQ(schedule.shape.params.at("window"), 1);
  EXPECT_EQ(schedule.shape.params.at("relabel"), 2);
  EXPECT_EQ(schedule_from_text(to_text(schedule)), normalised(schedule));
}

}  // namespace
}  // namespace circoll
