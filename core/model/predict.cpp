#include <algorithm>
#include <cmath>
#include <iterator>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"
#include "schedule/registry.hpp"

namespace circoll {

Terms terms_of(Collective collective, const CriticalPath& path, const Cost& cost, Count bytes) {
  const bool nothing = !traits_of(collective).moves_data;
  const double block_bytes = nothing ? 0 : static_cast<double>(bytes) / static_cast<double>(path.blocks);
  return {.alpha = static_cast<double>(cost.rounds - path.one_way),
          .alpha_uni = static_cast<double>(path.one_way),
          .bytes = static_cast<double>(path.volume) * block_bytes,
          .bytes_uni = static_cast<double>(path.one_way_volume) * block_bytes,
          .combined = static_cast<double>(path.combined) * block_bytes,
          .received = static_cast<double>(cost.received) * block_bytes,
          .levels = static_cast<double>(path.levels)};
}

Terms terms_of(const Selection& selection, Rank p, Count bytes, Rank root, std::int64_t ports) {
  const Shape shape{.size = p, .root = root, .params = selection.params};
  CriticalPath path = critical_path(*selection.algorithm, selection.collective, shape);
  Cost cost = cost_of(*selection.algorithm, shape);
  // A window has a message wait for another one.
  if (ports > 1 && selection.algorithm->on_ports != nullptr && !selection.params.contains(window.name)) {
    const RoundsOnPorts at_once = selection.algorithm->on_ports(shape, ports);
    cost.rounds = at_once.rounds;
    path.one_way = at_once.one_way;
    path.volume = at_once.volume;
    path.one_way_volume = at_once.one_way_volume;
  }
  return terms_of(selection.collective, path, cost, bytes);
}

namespace {

/// The mean price of a round that goes both ways.
double seconds_per_round(const Terms& terms, const Machine& machine) {
  const double rounds = terms.alpha + terms.alpha_uni;
  if (machine.overhead_s == 0 || terms.levels == 0 || rounds == 0) return machine.alpha_s;
  const double both_s = machine.overhead_both_s > 0 ? machine.overhead_both_s : machine.overhead_s;
  const double overhead_s = (terms.alpha * both_s + terms.alpha_uni * machine.overhead_s) / rounds;
  return (terms.levels * machine.alpha_s + (rounds - terms.levels) * overhead_s) / rounds;
}

/// The share of the longest messages of all rounds that is moved one after the other.
double share_of_bytes(const Terms& terms, const Machine& machine) {
  const double bytes = terms.bytes + terms.bytes_uni;
  if (!machine.read || terms.levels == 0 || bytes == 0) return 1;
  return std::min(terms.levels * terms.received / bytes, 1.0);
}

}  // namespace

double seconds(const Terms& terms, const Machine& machine) {
  return (terms.alpha + terms.alpha_uni * machine.f_alpha) * seconds_per_round(terms, machine) +
         (terms.bytes + terms.bytes_uni * machine.f_beta) * share_of_bytes(terms, machine) * machine.beta_s_per_byte +
         terms.combined * machine.gamma_s_per_byte;
}

std::vector<MachineForLength> machines_inside(const Machine& machine, bool crowded) {
  Machine inside = machine;
  inside.alpha_s = machine.within_alpha_s();
  inside.beta_s_per_byte = machine.within_beta_s_per_byte();
  inside.node_ways.clear();
  inside.overhead_both_s = 0;
  inside.ports = 1;  // those of a network
  const double waiting_s = crowded ? machine.crowded_s : 0;
  if (machine.node_ways.empty()) {
    // That of the machine may be a network's.
    if (inside.overhead_s == 0 || machine.node_alpha_s > 0) inside.overhead_s = inside.alpha_s;
    inside.alpha_s += waiting_s;
    return {{.machine = inside}};
  }
  std::vector<MachineForLength> all;
  for (const NodeWay& way : machine.node_ways) {
    inside.alpha_s = way.alpha_s + waiting_s;
    inside.overhead_s = way.overhead_s > 0 ? way.overhead_s : way.alpha_s;
    inside.read = way.read;
    inside.beta_s_per_byte = way.beta_s_per_byte;
    inside.gamma_s_per_byte = way.gamma_s_per_byte;
    all.push_back({.from_bytes = way.from_bytes, .machine = inside});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.from_bytes < b.from_bytes; });
  return all;
}

double seconds(const Terms& terms, const std::vector<MachineForLength>& machines) {
  const double length = (terms.bytes + terms.bytes_uni) / std::max(terms.alpha + terms.alpha_uni, 1.0);
  const auto longer = std::find_if(machines.begin() + 1, machines.end(),
                                   [&](const auto& one) { return static_cast<double>(one.from_bytes) > length; });
  return seconds(terms, std::prev(longer)->machine);
}

}  // namespace circoll
