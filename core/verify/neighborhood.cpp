#include "verify/neighborhood.hpp"

#include <map>
#include <utility>

#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "schedule/matching.hpp"
#include "symbolic/execution.hpp"
#include "verify/proof.hpp"

namespace circoll::verify {
namespace {

void check_form(const Schedule& s, const NeighborBlocks& defined) {
  const Rank r = s.shape.rank;
  try {
    check_structure(s);
  } catch (const StructureError& error) {
    throw Refuted{Claim::structure, r, error.step(), -1, error.problem()};
  }
  if (s.blocks() != defined.blocks || s.buffers[send_buffer].list != defined.sent ||
      s.buffers[recv_buffer].list != defined.received) {
    throw Refuted{Claim::structure, r, -1, -1, "the caller's buffers are not those that the graph defines"};
  }
  for (StepIndex i = 0; i < s.steps.size(); ++i) {
    for (const Range& range : s.operand(s.steps[i].dst)) {
      if (range.buffer != send_buffer) continue;
      throw Refuted{Claim::send_untouched, r, i, s.block_of(range.buffer, range.first), "the send buffer is written"};
    }
  }
}

Matching match(std::span<const Schedule> schedules) {
  try {
    return Matching(schedules);
  } catch (const Unmatched& end) {
    throw Refuted{Claim::matching, end.rank, end.step, end.block, end.what};
  }
}

void prove(std::span<const Schedule> schedules, const std::vector<NeighborBlocks>& defined) {
  std::vector<Dependencies> dependencies;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    const Schedule& s = schedules[r];
    check_form(s, defined[r]);
    dependencies.push_back(derive_dependencies(s));
    if (const auto race = find_race(s, dependencies.back())) {
      throw Refuted{Claim::no_race, s.shape.rank, race->later, s.block_of(race->buffer, race->slot),
                    "the step may run before step " + std::to_string(race->earlier) + ", which touches the same slot"};
    }
  }
  const Matching matching = match(schedules);
  SymbolicExecution execution(schedules, matching, dependencies, false);
  execution.run();
  for (const Schedule& s : schedules) {
    for (Slot slot = 0; slot < s.buffers[recv_buffer].slots; ++slot) {
      const Block block = s.block_of(recv_buffer, slot);
      const symbolic::Value value = execution.value(s.shape.rank, recv_buffer, slot);
      if (value == execution.expressions().leaf(0, block)) continue;
      throw Refuted{Claim::result, s.shape.rank, -1, block,
                    value == symbolic::undefined ? "the block is never written" : "the block is another one"};
    }
  }
}

}  // namespace

std::vector<NeighborBlocks> shared_blocks(std::span<const Neighborhood> graph, NeighborContract contract) {
  const bool gathers = contract == NeighborContract::allgather;
  std::vector<NeighborBlocks> made(graph.size());
  std::map<std::pair<Rank, Rank>, std::vector<Block>> names;  // of the edges between two ranks, in their order
  Block edges = 0;
  for (std::size_t r = 0; r < graph.size(); ++r) {
    require(graph[r].rank == static_cast<Rank>(r), "a graph has the neighbourhoods of ranks 0 .. p-1");
    if (gathers && !graph[r].out.empty()) made[r].sent.push_back(graph[r].rank);
    for (const NeighborEdge& edge : graph[r].out) {
      const Block name = gathers ? graph[r].rank : edges;
      ++edges;
      names[{graph[r].rank, edge.peer}].push_back(name);
      if (!gathers) made[r].sent.push_back(name);
    }
  }
  std::map<std::pair<Rank, Rank>, std::size_t> met;
  for (std::size_t r = 0; r < graph.size(); ++r) {
    made[r].blocks = gathers ? static_cast<Block>(graph.size()) : std::max<Block>(1, edges);
    for (const NeighborEdge& edge : graph[r].in) {
      const std::vector<Block>& between = names[{edge.peer, graph[r].rank}];
      std::size_t& next = met[{edge.peer, graph[r].rank}];
      require(next < between.size(), "an edge of a graph has one end only");
      made[r].received.push_back(between[next++]);
    }
  }
  for (const auto& [pair, between] : names) {
    require(met[pair] == between.size(), "an edge of a graph has one end only");
  }
  return made;
}

std::optional<Refutation> refute_neighborhood(std::span<const Neighborhood> graph, NeighborContract contract,
                                              std::span<const Schedule> schedules) {
  require(graph.size() == schedules.size(), "each rank of a graph has a schedule");
  try {
    prove(schedules, shared_blocks(graph, contract));
  } catch (const Refuted& refuted) {
    return Refutation{.claim = refuted.claim,
                      .id = schedules.front().id,
                      .size = static_cast<Rank>(graph.size()),
                      .rank = refuted.rank,
                      .step = refuted.step,
                      .block = refuted.block,
                      .what = refuted.what};
  }
  return std::nullopt;
}

}  // namespace circoll::verify
