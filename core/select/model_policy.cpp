// model: the least predicted time over all algorithms whose needs hold, each with its best parameters.
#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "model/fit.hpp"
#include "model/sharing.hpp"
#include "schedule/registry.hpp"
#include "schedule/relabelling.hpp"
#include "select/policies.hpp"

namespace circoll::select {
namespace {

/// True if nodes and the network between them make a difference.
bool has_levels(const CallFacts& facts) { return facts.cores > 1 && facts.cores < facts.p; }

/// True if all ranks share one node, so that no message leaves it.
bool on_one_node(const CallFacts& facts) { return facts.p > 1 && facts.cores >= facts.p; }

/// The ranks on each node, for algorithms that go through nodes. Labels may number ranks so. 0: they cannot serve.
Rank cores_in_order(const CallFacts& facts) {
  if (!has_levels(facts)) return 0;
  if (facts.node_by_node) return facts.cores;
  return can_relabel(facts.collective) && facts.op.commutative ? facts.group : 0;
}

/// True if policies take an algorithm without being told to.
bool serves_by_itself(const Algorithm& algorithm, const Machine& machine) {
  return algorithm.automatic || (machine.ports > 1 && algorithm.on_ports != nullptr);
}

/// The executions of a call. That of counts takes as long as that of the data, whose sizes are not known here.
double executions(const Selection& selection) { return counts_go_first(selection) ? 2 : 1; }

/// A selection with the best parameters that it has on any of the machines.
Ranked fastest(const Selection& open, const CallFacts& facts, const std::vector<MachineForLength>& machines) {
  Ranked fastest{.time_s = std::numeric_limits<double>::infinity()};
  for (const MachineForLength& one : machines) {
    Selection best = with_best_parameters(open, facts.p, facts.bytes, one.machine);
    const double time =
        executions(best) * seconds(terms_of(best, facts.p, facts.bytes, 0, one.machine.ports), machines);
    if (time < fastest.time_s) fastest = {.selection = std::move(best), .time_s = time};
  }
  return fastest;
}

/// A lower bound of the time on nodes, however ranks are numbered, from the declared cost alone.
double least_seconds(const Selection& selection, const CallFacts& facts, Machine machine) {
  machine.alpha_s = std::min(machine.alpha_s, machine.within_alpha_s());
  machine.beta_s_per_byte = std::min(machine.beta_s_per_byte, machine.within_beta_s_per_byte());
  machine.f_alpha = 1;
  machine.f_beta = 1;
  machine.overhead_s = 0;
  return executions(selection) * seconds(terms_of(selection, facts.p, facts.bytes), machine);
}

/// A selection, and for an exchange through nodes the same with each other radix. The declared cost knows no port that
/// ranks share, so traffic has to decide among them.
std::vector<Selection> by_radix(const Selection& selection, Collective collective) {
  std::vector<Selection> all{selection};
  const ParamDeclaration* const radix = selection.algorithm->param("radix");
  if (!is_exchange(collective) || !is_for_nodes(*selection.algorithm) || radix == nullptr) return all;
  for (const std::int64_t value :
       std::array{radix->fallback, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{8}}) {
    Selection other = selection;
    other.params.erase("radix");
    if (value != radix->fallback) other.params.emplace("radix", value);
    if (other.params != selection.params) all.push_back(std::move(other));
  }
  return all;
}

/// As if the nodes were the groups that an algorithm goes through, but for the messages that leave their node.
Traffic traffic_on(const Selection& selection, const CallFacts& facts, TrafficCache& traffic) {
  if (!is_for_nodes(*selection.algorithm) || facts.node_by_node) return *traffic.find(selection, facts.p, facts.cores);
  return on_groups(*traffic.find(selection, facts.p, facts.group), facts.cores / facts.group, facts.group_split);
}

/// On nodes: the algorithms as they are, and relabelled (relabelling.hpp), by the traffic inside and between nodes.
/// Those that cannot be better than the best, by their declared costs, keep that bound as their time.
std::vector<Ranked> on_nodes(const std::vector<Ranked>& flat, const CallFacts& facts, const PolicyOptions& options,
                             TrafficCache& traffic) {
  std::vector<Ranked> all;
  for (const Ranked& candidate : flat) {
    for (Selection& one : by_radix(candidate.selection, facts.collective)) {
      const double least = least_seconds(one, facts, options.machine);
      all.push_back({.selection = std::move(one), .time_s = least});
    }
    Ranked across = all.back();
    across.selection.params.insert_or_assign("relabel", facts.cores);
    if (can_relabel(facts.collective) && !is_for_nodes(*candidate.selection.algorithm) &&
        why_not(across.selection, facts, options.allow_rank_divergence).empty()) {
      all.push_back(std::move(across));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) { return a.time_s < b.time_s; });
  double best = std::numeric_limits<double>::infinity();
  for (Ranked& candidate : all) {
    if (candidate.time_s > best) continue;
    const double time = seconds(traffic_on(candidate.selection, facts, traffic), facts.bytes, options.machine);
    candidate.time_s = std::max(candidate.time_s, executions(candidate.selection) * time);
    best = std::min(best, candidate.time_s);
  }
  // Of those that differ in their radix the fastest stays.
  std::map<const Algorithm*, const Ranked*> fastest_of;
  for (const Ranked& one : all) {
    const Ranked*& fastest = fastest_of[one.selection.algorithm];
    if (fastest == nullptr || one.time_s < fastest->time_s) fastest = &one;
  }
  std::vector<Ranked> kept;
  for (const Ranked& one : all) {
    if (!is_for_nodes(*one.selection.algorithm) || fastest_of[one.selection.algorithm] == &one) kept.push_back(one);
  }
  return kept;
}

/// If a segment takes so many alphas, its order is worth the acknowledgements of a window.
constexpr double long_segment = 8;

/// A tree of long segments over sockets, with a window. There a rank sends to several others at once, and the network
/// shares itself among these messages. So those that were to leave first arrive late. Predicted times suppose that they
/// do not. A window has them leave in order (docs/adr/0035-order-on-the-wire.md).
Selection in_order(Selection selection, const CallFacts& facts, const Machine& machine) {
  const auto segments = selection.params.find("segments");
  const bool by_tree = (facts.collective == Collective::bcast || facts.collective == Collective::reduce) &&
                       selection.algorithm->family != Family::chain && segments != selection.params.end();
  if (!by_tree || nodes_of(facts) < 3 || part_bytes(network_of(machine)) == 0) return selection;
  const CriticalPath path =
      critical_path(*selection.algorithm, facts.collective, {.size = facts.p, .params = selection.params});
  const double segment_s =
      static_cast<double>(facts.bytes) / static_cast<double>(path.blocks) * machine.beta_s_per_byte;
  if (segment_s >= long_segment * machine.alpha_s) selection.params.insert_or_assign(std::string(window.name), 1);
  return selection;
}

class Model final : public PolicyBase {
 public:
  using PolicyBase::PolicyBase;
  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    return decide_by_model(name(), facts, options(), memory());
  }
};

}  // namespace

Decision decide_by_model(const std::string& policy, const CallFacts& facts, const PolicyOptions& options,
                         ModelMemory& memory) {
  if (std::optional<Decision> last = memory.last.find(facts)) return *std::move(last);
  Decision decision{.selection = std::nullopt, .policy = policy, .reason = {}};
  std::vector<MachineForLength> machines = on_one_node(facts)
                                               ? machines_inside(options.machine, facts.crowded)
                                               : std::vector{MachineForLength{.machine = options.machine}};
  std::vector<Ranked> ranked;
  // Traffic decides on nodes of several ranks. It knows no overhead, and no ports.
  if (has_levels(facts)) {
    machines.front().machine.overhead_s = 0;
    machines.front().machine.ports = 1;
  }
  for (const Algorithm* algorithm : algorithms_of(facts.collective)) {
    Selection open{algorithm, facts.collective, {}};
    std::string why = why_not(open, facts, options.allow_rank_divergence);
    if (why.empty()) why = unranked_because(*algorithm, facts.collective, cores_in_order(facts) > 0);
    if (why.empty() && !serves_by_itself(*algorithm, machines.front().machine))
      why = "serves by name only, since nobody has measured it yet";
    if (!why.empty()) {
      decision.ruled_out.push_back({algorithm->id(facts.collective), std::move(why)});
      continue;
    }
    if (is_for_nodes(*algorithm)) open.params.emplace("cores", cores_in_order(facts));
    ranked.push_back(fastest(open, facts, machines));
    // Where every rank has a host of its own, messages share its port.
    if (!has_levels(facts) && !on_one_node(facts)) {
      ranked.back() = between_hosts(ranked.back().selection, facts.p, facts.bytes, options.machine);
      ranked.back().time_s *= executions(ranked.back().selection);
    }
  }
  if (ranked.empty()) {
    decision.reason = "no algorithm of Circoll serves this call";
    return decision;
  }
  if (has_levels(facts)) ranked = on_nodes(ranked, facts, options, memory.traffic);
  // Many algorithms are one and the same for two ranks, or for a power of two: ties go the same way on every rank.
  sort_by_time(ranked, facts.p);
  for (Ranked& one : ranked)
    decision.candidates.push_back({in_order(std::move(one.selection), facts, options.machine), one.time_s});
  const Candidate& first = decision.candidates.front();
  decision.selection = first.selection;
  decision.reason = "least predicted time of " + std::to_string(decision.candidates.size()) + " on machine '" +
                    options.machine.name + "', " + readable_time(first.seconds);
  if (on_one_node(facts)) decision.reason += facts.crowded ? " inside one crowded node" : " inside one node";
  if (has_levels(facts)) decision.reason += " on nodes of " + std::to_string(facts.cores);
  if (has_unknown_size(facts.collective)) {
    decision.reason += " without the sizes of blocks, which the ranks do not all know";
  }
  memory.last.keep(facts, decision);
  return decision;
}

std::unique_ptr<const Policy> make_model(std::string name, const PolicyOptions& options) {
  return std::make_unique<Model>(std::move(name), options);
}

}  // namespace circoll::select
