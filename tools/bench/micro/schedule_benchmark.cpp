// The costs of a schedule at a rank: building, deriving dependencies, binding, and the memory of the result.
#include <benchmark/benchmark.h>

#include "circoll/algorithm.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/plan.hpp"

namespace {

using namespace circoll;

/// Ids of the algorithms with O(log p) rounds and ranges.
constexpr const char* logarithmic[] = {
    "allreduce/circulant", "allreduce/circulant_idempotent", "allreduce/circulant_optimal",
    "reduce/circulant",    "reduce/circulant_tree",          "reduce_scatter_block/circulant_optimal",
    "allgather/circulant", "allgather/circulant_optimal",    "gather/circulant",
    "scatter/circulant",   "bcast/circulant_pipelined",      "barrier/circulant",
};

/// The rank with the most to do: the root, or any where all do the same.
Rank rank_of(const Selection& selection, Rank p) { return is_rooted(selection.collective) ? 0 : p / 3; }

std::size_t bytes_of(const Schedule& s) {
  std::size_t bytes = sizeof(s) + s.steps.capacity() * sizeof(Step) + s.ranges.capacity() * sizeof(Range) +
                      s.buffers.capacity() * sizeof(Buffer);
  for (const Buffer& b : s.buffers) bytes += b.list.capacity() * sizeof(Block);
  return bytes;
}

void build(benchmark::State& state, const char* id) {
  const Selection selection = parse_selection(id);
  const Rank p = state.range(0);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Schedule s =
        build_schedule(*selection.algorithm, selection.collective, {.size = p, .rank = rank_of(selection, p)});
    bytes = bytes_of(s);
    benchmark::DoNotOptimize(s.steps.data());
  }
  state.counters["schedule_bytes"] = static_cast<double>(bytes);
}

void derive(benchmark::State& state, const char* id) {
  const Selection selection = parse_selection(id);
  const Rank p = state.range(0);
  const Schedule s =
      build_schedule(*selection.algorithm, selection.collective, {.size = p, .rank = rank_of(selection, p)});
  for (auto _ : state) {
    const Dependencies d = derive_dependencies(s);
    benchmark::DoNotOptimize(d.targets.data());
  }
}

void bind_plan(benchmark::State& state, const char* id) {
  const Selection selection = parse_selection(id);
  const Rank p = state.range(0);
  const Schedule s =
      build_schedule(*selection.algorithm, selection.collective, {.size = p, .rank = rank_of(selection, p)});
  const Layout layout = Layout::uniform(s.user_blocks, s.segments, 1000);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Plan plan = bind(s, layout, 4);
    bytes = plan.memory_bytes();
    benchmark::DoNotOptimize(plan.steps.data());
  }
  state.counters["plan_bytes"] = static_cast<double>(bytes);
}

struct Subject {
  const char* name;
  void (*function)(benchmark::State&, const char*);
};
constexpr Subject subjects[] = {{"build/", build}, {"derive/", derive}, {"bind/", bind_plan}};

const bool registered = [] {
  for (const char* id : logarithmic) {
    for (const Subject& subject : subjects) {
      benchmark::RegisterBenchmark((std::string(subject.name) + id).c_str(), subject.function, id)
          ->Arg(16)
          ->Arg(1 << 10)
          ->Arg(36 * 32)
          ->Arg(1 << 20)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
