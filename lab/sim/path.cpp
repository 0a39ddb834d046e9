// Reading of an outcome: the critical path, idle times, and steps in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "sim/programs.hpp"
#include "sim/sim.hpp"

namespace circoll::sim {

std::vector<PathStep> critical_path(const SimulatedRun& outcome) {
  require(!outcome.first_step.empty(), "a critical path needs an outcome with every step");
  const auto first = outcome.first_step[static_cast<std::size_t>(outcome.last_rank)];
  const auto end = outcome.first_step[static_cast<std::size_t>(outcome.last_rank) + 1];
  if (first == end) return {};
  const auto played = [&](Rank rank, StepIndex step) -> const PlayedStep& {
    return outcome.played[outcome.first_step[static_cast<std::size_t>(rank)] + step];
  };
  PathStep at{.rank = outcome.last_rank};
  for (std::size_t i = first; i < end; ++i) {
    if (outcome.played[i].end_s > outcome.played[first + at.step].end_s) at.step = static_cast<StepIndex>(i - first);
  }
  std::vector<PathStep> path;
  while (path.size() <= outcome.played.size()) {
    at.played = played(at.rank, at.step);
    path.push_back(at);
    if (at.played.cause_rank < 0) break;
    at = {.rank = at.played.cause_rank, .step = at.played.cause_step};
  }
  check(path.size() <= outcome.played.size(), "a critical path comes to its beginning");
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<std::pair<double, double>> busy_times(const Ranks& ranks, const SimulatedRun& outcome, Rank rank) {
  require(!outcome.first_step.empty(), "busy times need an outcome with every step");
  const auto r = static_cast<std::size_t>(rank);
  const StepGraph& program = *ranks.get().ranks.at(r).program;
  std::vector<std::pair<double, double>> steps;
  for (std::size_t i = outcome.first_step[r]; i < outcome.first_step[r + 1]; ++i) {
    if (program.ops[i - outcome.first_step[r]].kind == StepKind::copy) continue;
    steps.emplace_back(outcome.played[i].begin_s, outcome.played[i].end_s);
  }
  std::sort(steps.begin(), steps.end());
  std::vector<std::pair<double, double>> busy;
  for (const auto& [begin, end] : steps) {
    if (busy.empty() || begin > busy.back().second) {
      busy.emplace_back(begin, end);
    } else {
      busy.back().second = std::max(busy.back().second, end);
    }
  }
  return busy;
}

std::vector<double> idle_times(const Ranks& ranks, const SimulatedRun& outcome) {
  require(!outcome.first_step.empty(), "idle times need an outcome with every step");
  std::vector<double> idle;
  idle.reserve(outcome.begin_s.size());
  for (std::size_t r = 0; r < outcome.begin_s.size(); ++r) {
    double until = outcome.begin_s[r];
    double sum = 0;
    for (const auto& [begin, end] : busy_times(ranks, outcome, static_cast<Rank>(r))) {
      if (begin > until) sum += begin - until;
      until = std::max(until, end);
    }
    idle.push_back(sum + std::max(0.0, outcome.time_s - until));
  }
  return idle;
}

StepKind kind_of(const Ranks& ranks, Rank rank, StepIndex step) {
  const StepGraph& program = *ranks.get().ranks.at(static_cast<std::size_t>(rank)).program;
  require(step < program.steps(), "a rank has that step");
  return program.ops[step].kind;
}

std::string describe(const Ranks& ranks, Rank rank, StepIndex step, double bytes) {
  const Programs& programs = ranks.get();
  const RankProgram& of = programs.ranks.at(static_cast<std::size_t>(rank));
  require(step < of.program->steps(), "a rank has that step");
  const Op& op = of.program->ops[step];
  const double amount = programs.moves_data ? op.blocks * bytes / programs.vector_blocks : 0;
  const std::string size = readable_bytes(std::llround(amount));
  const auto message = [&](std::string_view what) {
    return fmt::format("{} {} {} rank {}", what, size, op.kind == StepKind::send ? "to" : "from", of.peers[op.message]);
  };
  const std::string what = op.kind == StepKind::send          ? message("sends")
                           : op.kind == StepKind::recv        ? message("receives")
                           : op.kind == StepKind::recv_reduce ? message("receives") + " and combines them"
                           : op.kind == StepKind::reduce      ? "combines " + size
                                                              : "copies " + size;
  return fmt::format("{}, round {}", what, op.round);
}

}  // namespace circoll::sim
