// Options of circoll simulate, read into a scene.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <thread>
#include <utility>

#include "circoll/select.hpp"
#include "cli/simulate/scene.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

/// "L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64Ki".
sim::LogGops read_loggops(const char* option, const std::string& text) {
  sim::LogGops link;
  for (const std::string& item : split_list(text)) {
    const std::string key = item.substr(0, item.find('='));
    const std::string value = item.size() > key.size() ? item.substr(key.size() + 1) : "";
    if (key == "S") {
      const auto bytes = parse_bytes(value);
      if (!bytes) misuse(fmt::format("{}: S is a number of bytes, not '{}'", option, value));
      link.rendezvous_from_bytes = *bytes;
      continue;
    }
    double* const where = key == "L"   ? &link.latency_s
                          : key == "o" ? &link.overhead_s
                          : key == "g" ? &link.gap_s
                          : key == "G" ? &link.gap_s_per_byte
                          : key == "O" ? &link.overhead_s_per_byte
                                       : nullptr;
    if (where == nullptr) misuse(fmt::format("{}: '{}' is none of L, o, g, G, O, S", option, key));
    const auto time = sim::parse_time(value);
    if (!time) misuse(fmt::format("{}: {} is a time such as 10us or 2e-6, not '{}'", option, key, value));
    *where = *time;
  }
  return link;
}

sim::SlowRank read_slow(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto rank = parse_number(text.substr(0, colon));
  double factor = 0;
  try {
    if (colon != std::string::npos) factor = std::stod(text.substr(colon + 1));
  } catch (const std::exception&) {
    factor = 0;
  }
  if (!rank || factor <= 0) misuse(fmt::format("--slow is RANK:FACTOR, such as 5:10, not '{}'", text));
  return {*rank, factor};
}

/// The fabric of p ranks.
sim::Fabric fabric_of(const SimulateOptions& o, Rank p, int ports) {
  if (o.topology.ends_with(".json")) (void)measured::read_file_of(o.topology, {measured::FileKind::topology});
  auto topology = sim::read_topology(o.topology, sim::nodes_needed(p, o.cores));
  std::vector<sim::Node> nodes = place(sim::parse_placement(o.placement), p, o.cores, topology->nodes());
  return {.topology = std::move(topology), .node_of = std::move(nodes), .ports = ports};
}

}  // namespace

Scene scene_of(const SimulateOptions& o) {
  Scene scene{.machine = o.machine_file.empty() ? default_machine() : measured::read_machine_file(o.machine_file),
              .seeds = o.seeds,
              .jobs = o.jobs > 0 ? o.jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency())),
              .root = o.root};
  if (o.ports) scene.machine.ports = *o.ports;
  scene.network = sim::network_of(scene.machine, o.cores);
  if (o.cores > 1) scene.machine.ports = 1;  // ranks of a node share its ports, which no price knows
  if (!o.loggops.empty()) {
    scene.network.between = read_loggops("--loggops", o.loggops);
    scene.network.inside.reset();
  }
  if (!o.exchange.empty()) sim::set_exchange(scene.network.between, o.exchange);
  if (!o.node_loggops.empty()) scene.network.inside = read_loggops("--node-loggops", o.node_loggops);
  if (!o.group_loggops.empty()) {
    scene.network.group = read_loggops("--group-loggops", o.group_loggops);
    scene.network.group_nodes = o.group_nodes;
  }
  scene.network.shared = o.shared;
  if (o.gamma) scene.network.gamma_s_per_byte = *o.gamma;
  scene.circumstances.skew = sim::parse_spread(o.skew);
  scene.circumstances.noise = sim::parse_spread(o.noise);
  scene.circumstances.seed = o.seed;
  for (const std::string& slow : o.slow) scene.circumstances.slow.push_back(read_slow(slow));
  return scene;
}

Scene for_size(Scene scene, const SimulateOptions& o, Rank p) {
  if (!o.arrivals.empty())
    scene.circumstances.arrivals_s = sim::arrivals_from_text(select::read_text_file(o.arrivals), p, o.arrivals);
  if (!o.topology.empty()) scene.fabric = fabric_of(o, p, scene.network.ports);
  return scene;
}

void check_network_options(const SimulateOptions& o) {
  if (o.shared && o.what_if) misuse("--what-if changes ports and speeds of ranks; --shared has one port and one speed");
  if (o.topology.empty()) {
    if (o.placement != "consecutive") misuse("--placement needs --topology");
    return;
  }
  for (const auto& [given, option] :
       {std::pair{!o.loggops.empty(), "--loggops"}, std::pair{!o.exchange.empty(), "--exchange"},
        std::pair{!o.node_loggops.empty(), "--node-loggops"}, std::pair{!o.group_loggops.empty(), "--group-loggops"},
        std::pair{o.skew != "none", "--skew"}, std::pair{o.noise != "none", "--noise"},
        std::pair{!o.arrivals.empty(), "--arrivals"}, std::pair{!o.slow.empty(), "--slow"},
        std::pair{o.seeds != 1, "--seeds"}, std::pair{!o.trace.empty(), "--trace"}, std::pair{o.path, "--path"},
        std::pair{o.what_if, "--what-if"}, std::pair{o.shared, "--shared"}}) {
    if (given) misuse(fmt::format("{} is about events; with --topology schedules are read round by round", option));
  }
}

void add_machine_options(CLI::App& command, SimulateOptions& o) {
  command.add_option("--machine", o.machine_file, "A machine file (circoll calibrate), or leonardo or lumi")
      ->type_name("FILE");
  command
      .add_option("--loggops", o.loggops,
                  "Prices of messages instead: L=1us,o=200ns,g=0,G=0.1ns,O=0,S=64Ki (those left out are 0)")
      ->type_name("LIST")
      ->excludes("--machine");
  command
      .add_option("--exchange", o.exchange,
                  "Messages of so many bytes and more that are exchanged take FACTOR times as long per byte")
      ->type_name("FACTOR:BYTES");
  command.add_option("--node-loggops", o.node_loggops, "Prices inside a node (default: those of --loggops)")
      ->type_name("LIST");
  CLI::Option* const group_loggops =
      command.add_option("--group-loggops", o.group_loggops, "Prices between nodes of one group")->type_name("LIST");
  CLI::Option* const group = command.add_option("--group", o.group_nodes, "Nodes of a group; group by group")
                                 ->transform(whole_number())
                                 ->check(options::between(Rank{1}, Rank{1} << 31));
  group->needs(group_loggops);
  group_loggops->needs(group);
  command.add_option("--gamma", o.gamma, "Seconds per byte combined (default: the machine's)")
      ->check(options::at_least(0));
  command.add_option("--cores", o.cores, "Ranks on a node, which share its ports; node by node")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20));
  command.add_flag("--shared", o.shared, "Messages under way at the same time share a port, in place of taking turns");
  command.add_option("--ports", o.ports, "Ports of a node (without --cores: of a rank; default: the machine's)")
      ->check(options::between(1, 1024));
  command
      .add_option("--topology", o.topology,
                  "Messages share the links of a network, round by round: flat,\n"
                  "fat_tree:nodes=64,leaves=8,spines=4[,up=C|oversubscription=R],\n"
                  "dragonfly:groups=9,routers=4,hosts=2[,links=N,local=C,global=C],\n"
                  "torus:dims=8x8x4[,hosts=N,link=C]; with hop=TIME; or a JSON file")
      ->type_name("TOPOLOGY");
  command
      .add_option("--placement", o.placement,
                  "Ranks on its nodes: consecutive, round_robin, random:SEED, file:NAME (a node a line)")
      ->type_name("RULE")
      ->capture_default_str();
  command.add_option("--skew", o.skew, "Arrivals of ranks: uniform:TIME, exponential:TIME or normal:TIME")
      ->capture_default_str();
  command.add_option("--arrivals", o.arrivals, "Measured arrivals instead, a time a line for each rank")
      ->type_name("FILE");
  command.add_option("--noise", o.noise, "The same distributions, added to every message and combination")
      ->capture_default_str();
  command.add_option("--slow", o.slow, "RANK:FACTOR: a rank that takes FACTOR times as long for all it does");
  command.add_option("--seed", o.seed, "Seed of all draws")->capture_default_str();
  command.add_option("--seeds", o.seeds, "Play so many seeds, from --seed on")->check(options::between(1, 100000));
}

}  // namespace circoll::cli
