#include "sim/program.hpp"

#include <algorithm>

#include "circoll/dependencies.hpp"

namespace circoll::sim {
namespace {

/// Sorts the steps of one direction by rounds. The builder writes them so; a schedule from elsewhere may be otherwise.
std::vector<StepIndex> by_round(const Program& program, bool sends) {
  std::vector<StepIndex> list;
  for (StepIndex i = 0; i < program.steps(); ++i) {
    const StepKind kind = program.ops[i].kind;
    if (sends ? kind == StepKind::send : is_receive(kind)) list.push_back(i);
  }
  std::stable_sort(list.begin(), list.end(),
                   [&](StepIndex a, StepIndex b) { return program.ops[a].round < program.ops[b].round; });
  return list;
}

}  // namespace

Program program_of(const Schedule& schedule) {
  const Dependencies dependencies = derive_dependencies(schedule);
  const auto steps = static_cast<StepIndex>(schedule.steps.size());
  Program program;
  program.ops.resize(std::size_t{steps} + 1);
  program.successors = dependencies.targets;
  for (StepIndex i = 0; i < steps; ++i) {
    const Step& step = schedule.steps[i];
    Op& op = program.ops[i];
    op = {.kind = step.kind,
          .is_first = dependencies.in_degree[i] == 0,
          .round = step.round,
          .first_successor = dependencies.offsets[i],
          .waits = std::max(1U, dependencies.in_degree[i]) + (is_receive(step.kind) ? 1U : 0U),
          .blocks = static_cast<double>(schedule.count(is_message(step) ? message_operand(step) : step.dst))};
    if (is_message(step)) op.message = program.messages++;
    const auto first = program.successors.begin() + dependencies.offsets[i];
    const auto end = program.successors.begin() + dependencies.offsets[i + 1];
    std::sort(first, end);  // what becomes ready at the same time begins in program order
    op.releases_receives_only =
        std::all_of(first, end, [&](StepIndex s) { return is_receive(schedule.steps[s].kind); });
  }
  program.ops.back().first_successor = static_cast<std::uint32_t>(program.successors.size());
  program.receives = by_round(program, false);
  program.sends = by_round(program, true);
  return program;
}

}  // namespace circoll::sim
