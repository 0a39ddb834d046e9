// The engine takes over an execution: it begins each remaining step once, after the steps that it waits for.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/plan.hpp"
#include "gtest/gtest.h"
#include "plan/engine.hpp"

namespace circoll {
namespace {

Plan plan_of(const std::string& id, Rank rank, Rank size) {
  const Schedule schedule = build_schedule(id, Shape{.size = size, .rank = rank, .root = 0, .in_place = false});
  return bind(schedule, Layout::uniform(schedule.user_blocks, schedule.segments, 4), 8, {});
}

/// Notes which steps begin. Some end at once, the others when they are told to.
class Recorder {
 public:
  Recorder(const Plan& plan, std::mt19937_64& random) : plan_(&plan), random_(&random), ended_(plan.steps.size()) {}

  bool begin(StepIndex step) {
    begun_.push_back(step);
    for (StepIndex before = 0; before < ended_.size(); ++before) {
      for (const StepIndex next : plan_->dependencies.successors(before)) {
        EXPECT_TRUE(next != step || ended_[before]) << "step " << step << " has not waited for step " << before;
      }
    }
    if ((*random_)() % 2 == 0) return ended_[step] = true;
    open_.push_back(step);
    return false;
  }
  void note_ended(StepIndex step) { ended_[step] = true; }
  /// Ends one of the steps that are under way.
  void end_one(Engine& engine) {
    ASSERT_FALSE(open_.empty());
    const std::size_t place = (*random_)() % open_.size();
    const StepIndex step = open_[place];
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
    ended_[step] = true;
    engine.completed(*this, step);
  }
  [[nodiscard]] std::vector<StepIndex> begun() const {
    std::vector<StepIndex> sorted = begun_;
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  const Plan* plan_;
  std::mt19937_64* random_;
  std::vector<bool> ended_;
  std::vector<StepIndex> begun_{}, open_{};
};

/// The first `count` steps of an order, taken by chance, that the dependencies allow.
std::vector<StepIndex> some_ended(const Plan& plan, std::size_t count, std::mt19937_64& random) {
  std::vector<std::uint32_t> waiting = plan.dependencies.in_degree;
  std::vector<StepIndex> ended, ready;
  for (StepIndex step = 0; step < waiting.size(); ++step) {
    if (waiting[step] == 0) ready.push_back(step);
  }
  while (ended.size() < count) {
    const auto place = ready.begin() + static_cast<std::ptrdiff_t>(random() % ready.size());
    const StepIndex step = *place;
    ready.erase(place);
    ended.push_back(step);
    for (const StepIndex next : plan.dependencies.successors(step)) {
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  return ended;
}

TEST(Engine, TakesOverWhatOthersHaveBegun) {
  std::mt19937_64 random(7);
  for (const char* const id : {"allreduce/circulant", "allreduce/ring", "allgather/recursive_doubling",
                               "alltoall/linear", "reduce_scatter_block/circulant_optimal"}) {
    const Plan plan = plan_of(id, 1, 4);
    Engine engine(plan);
    for (std::size_t count = 0; count <= plan.steps.size(); ++count) {
      Recorder recorder(plan, random);
      const std::vector<StepIndex> ended = some_ended(plan, count, random);
      for (const StepIndex step : ended) recorder.note_ended(step);
      engine.hold();
      EXPECT_FALSE(engine.done());
      engine.start_after(recorder, [&](const auto& tell) { std::for_each(ended.begin(), ended.end(), tell); });
      while (!engine.done()) recorder.end_one(engine);
      std::vector<StepIndex> rest;
      for (StepIndex step = 0; step < plan.steps.size(); ++step) {
        if (std::find(ended.begin(), ended.end(), step) == ended.end() && !plan.steps[step].empty) rest.push_back(step);
      }
      EXPECT_EQ(recorder.begun(), rest) << id << ", " << count << " steps had ended";
    }
  }
}

TEST(Engine, IsOverWhenItIsTold) {
  const Plan plan = plan_of("allreduce/circulant", 0, 2);
  Engine engine(plan);
  engine.hold();
  EXPECT_FALSE(engine.done());
  engine.end();
  EXPECT_TRUE(engine.done());
}

}  // namespace
}  // namespace circoll
