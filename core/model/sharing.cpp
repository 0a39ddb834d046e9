#include "model/sharing.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/registry.hpp"

namespace circoll {
namespace {

bool may_share(const Selection& selection) {
  return (selection.collective == Collective::scatter || selection.collective == Collective::scatterv) &&
         !selection.params.contains(window.name);
}

}  // namespace

double lost_by_sharing(const Selection& selection, const Shape& shape, std::span<const double> volumes) {
  if (!may_share(selection)) return 0;
  const double in_turn = std::accumulate(volumes.begin(), volumes.end(), 0.0);
  const Shape label = labelled(selection.collective, shape);
  const CriticalPath path = critical_path(*selection.algorithm, selection.collective, label);
  const std::int64_t rounds = cost_of(*selection.algorithm, label).rounds;
  const std::int64_t levels = path.levels > 0 ? path.levels : rounds;
  // In a pipeline some ranks receive while they send: their messages have an order already.
  if (path.one_way < rounds || levels < 2) return 0;
  std::vector<double> from_round(volumes.size() + 1, 0.0);  // the volume from a round on
  for (std::size_t k = volumes.size(); k-- > 0;) from_round[k] = from_round[k + 1] + volumes[k];
  double shared = 0;
  for (std::int64_t level = 0; level < levels; ++level)
    shared += from_round[std::min(static_cast<std::size_t>(level * rounds / levels), volumes.size())];
  return std::max(0.0, shared - in_turn);
}

Terms terms_between_hosts(const Selection& selection, Rank p, Count bytes, Rank root, std::int64_t ports) {
  Terms terms = terms_of(selection, p, bytes, root, ports);
  if (!may_share(selection)) return terms;
  const Shape shape{.size = p, .rank = root, .root = root, .params = selection.params};
  const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
  std::vector<double> volumes(schedule.rounds, 0.0);
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::send) volumes[step.round] += static_cast<double>(schedule.count(message_operand(step)));
  }
  const CriticalPath path = critical_path(*selection.algorithm, selection.collective, shape);
  terms.bytes_uni +=
      lost_by_sharing(selection, shape, volumes) * static_cast<double>(bytes) / static_cast<double>(path.blocks);
  return terms;
}

Ranked between_hosts(const Selection& selection, Rank p, Count bytes, const Machine& machine, Rank root) {
  Ranked one{.selection = selection, .terms = terms_between_hosts(selection, p, bytes, root, machine.ports)};
  one.time_s = seconds(one.terms, machine);
  return one;
}

}  // namespace circoll
