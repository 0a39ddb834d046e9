#include "model/traffic.hpp"

#include <algorithm>
#include <set>

#include "circoll/error.hpp"
#include "model/sharing.hpp"
#include "schedule/relabelling.hpp"

namespace circoll {
namespace {

void raise(double& most, double value) { most = std::max(most, value); }

/// Adds the messages that the ranks of one node send and receive.
void add_node(const Selection& selection, const Shape& of_first, Rank ranks, Rank cores, Traffic& traffic) {
  struct Port {
    double out = -1, in = -1;
  };
  std::vector<Port> port(traffic.rounds.size());
  const Rank node = of_first.rank / cores;
  Shape shape = of_first;
  for (Rank i = 0; i < ranks; ++i, ++shape.rank) {
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
    if (schedule.rounds > traffic.rounds.size()) {
      traffic.rounds.resize(schedule.rounds);
      port.resize(schedule.rounds);
    }
    for (const Step& step : schedule.steps) {
      if (!is_message(step)) continue;
      const bool out = step.kind == StepKind::send;
      const auto blocks = static_cast<double>(schedule.count(message_operand(step)));
      if (step.peer / cores == node) {
        raise(traffic.rounds[step.round].inside, blocks);
      } else {
        double& sum = out ? port[step.round].out : port[step.round].in;
        sum = std::max(sum, 0.0) + blocks;
      }
    }
  }
  for (std::size_t k = 0; k < port.size(); ++k) raise(traffic.rounds[k].across, std::max(port[k].out, port[k].in));
}

}  // namespace

Traffic traffic_of(const Selection& selection, Rank p, Rank cores, Rank root) {
  require(selection.algorithm != nullptr && p >= 1 && cores >= 1 && root >= 0 && root < p,
          "an algorithm, at least one rank, and one on each node");
  Shape shape{.size = p, .root = root, .params = selection.params};
  // Once for all ranks.
  if (const auto on_node = shape.params.find("relabel"); on_node != shape.params.end()) {
    shape.labels = std::make_shared<const Relabelling>(Relabelling::across_nodes(p, on_node->second));
  }
  const CriticalPath path =
      critical_path(*selection.algorithm, selection.collective, labelled(selection.collective, shape));
  Traffic traffic{.blocks = static_cast<double>(path.blocks), .combined = static_cast<double>(path.combined)};
  const Rank nodes = (p + cores - 1) / cores;
  for (const Rank node : std::set<Rank>{0, nodes / 2, nodes - 1}) {
    shape.rank = node * cores;
    add_node(selection, shape, std::min(cores, p - shape.rank), cores, traffic);
  }
  std::vector<double> across;
  for (const Traffic::Round& round : traffic.rounds) across.push_back(std::max(round.across, 0.0));
  traffic.shared = lost_by_sharing(selection, shape, across);
  return traffic;
}

double seconds(const Traffic& traffic, Count bytes, const Machine& machine) {
  const double part = static_cast<double>(bytes) / traffic.blocks;
  double sum = traffic.combined * part * machine.gamma_s_per_byte;
  for (const Traffic::Round& round : traffic.rounds) {
    const double inside =
        round.inside < 0 ? 0 : machine.within_alpha_s() + round.inside * part * machine.within_beta_s_per_byte();
    const double across = round.across < 0 ? 0 : machine.alpha_s + round.across * part * machine.beta_s_per_byte;
    sum += std::max(inside, across);
  }
  return sum + traffic.shared * part * machine.beta_s_per_byte;
}

}  // namespace circoll
