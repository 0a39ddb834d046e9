// Machine files.
#include <nlohmann/json.hpp>

#include "circoll/select.hpp"
#include "select/machine.hpp"
#include "select/text_file.hpp"

namespace circoll {

namespace {

/// Predicted times must stay finite, or no algorithm would be the fastest.
constexpr double most = 1e9;

double positive(const select::Members& members, std::string_view key) {
  const double value = members.number(key);
  if (!(value > 0) || value > most) members.fail(members.at(key), std::string(key) + " must be above 0, at most 1e9");
  return value;
}

std::vector<NodeWay> node_ways_of(const select::Members& members, const std::string& source) {
  std::vector<NodeWay> ways;
  const select::Json* const list = members.find("node_ways");
  if (list == nullptr) return ways;
  if (list->array() == nullptr || list->array()->empty()) members.fail(*list, "node_ways must be a list of ways");
  for (const select::Json& json : *list->array()) {
    const select::Members way(
        json, source, {"name", "from_bytes", "alpha_s", "beta_s_per_byte", "gamma_s_per_byte", "overhead_s", "read"});
    const std::int64_t from_bytes = way.integer("from_bytes");
    if (from_bytes < 0) way.fail(way.at("from_bytes"), "from_bytes must not be negative");
    ways.push_back({.name = way.text("name"),
                    .from_bytes = from_bytes,
                    .alpha_s = positive(way, "alpha_s"),
                    .beta_s_per_byte = positive(way, "beta_s_per_byte"),
                    .gamma_s_per_byte = positive(way, "gamma_s_per_byte"),
                    .overhead_s = way.find("overhead_s") == nullptr ? 0.0 : positive(way, "overhead_s"),
                    .read = way.find("read") != nullptr && way.boolean("read")});
  }
  return ways;
}

std::vector<SlowHost> slow_hosts_of(const select::Members& members, const std::string& source) {
  std::vector<SlowHost> hosts;
  const select::Json* const list = members.find("slow_hosts");
  if (list == nullptr) return hosts;
  if (list->array() == nullptr) members.fail(*list, "slow_hosts must be a list of hosts");
  for (const select::Json& json : *list->array()) {
    const select::Members host(json, source, {"name", "times"});
    hosts.push_back({.name = host.text("name"), .times = positive(host, "times")});
  }
  return hosts;
}

std::int64_t ports_of(const select::Members& members) {
  const select::Json* const json = members.find("ports");
  if (json == nullptr) return 1;
  const std::int64_t ports = members.integer("ports");
  if (ports < 1 || ports > 1024) members.fail(*json, "ports must be 1 to 1024");
  return ports;
}

}  // namespace

/// The ways were measured as the rest was. A stored message is copied twice, and combined out of the cache of a core. A
/// message that is read directly is copied once, after two calls of the system and an acknowledgement, and combined out
/// of the cache that cores share. The price of waiting was measured with four ranks that yield two processors to one
/// another.
Machine default_machine() {
  Machine machine;
  machine.node_ways = {{.name = "stored",
                        .alpha_s = 0.15e-6,
                        .beta_s_per_byte = 0.13e-9,
                        .gamma_s_per_byte = 0.015e-9,
                        .overhead_s = 0.1e-6},
                       {.name = "direct",
                        .from_bytes = 32768,
                        .alpha_s = 4e-6,
                        .beta_s_per_byte = 0.078e-9,
                        .gamma_s_per_byte = 0.03e-9,
                        .overhead_s = 2.5e-6,
                        .read = true}};
  machine.crowded_s = 3e-6;
  return machine;
}

Machine machine_from_json(std::string_view json, const std::string& source) {
  const select::Json root = select::read_json(json, source);
  const select::Members members(root, source,
                                {"circoll_machine", "name", "about", "alpha_s", "beta_s_per_byte", "gamma_s_per_byte",
                                 "f_alpha", "f_beta", "overhead_s", "overhead_both_s", "node_alpha_s",
                                 "node_beta_s_per_byte", "node_ways", "crowded_s", "ports", "slow_hosts"});
  members.require_version("circoll_machine");
  if (members.find("about") != nullptr) (void)members.text("about");
  const auto ratio = [&](std::string_view key) { return members.find(key) == nullptr ? 1.0 : positive(members, key); };
  const auto level = [&](std::string_view key) { return members.find(key) == nullptr ? 0.0 : positive(members, key); };
  return {.name = members.text("name"),
          .alpha_s = positive(members, "alpha_s"),
          .beta_s_per_byte = positive(members, "beta_s_per_byte"),
          .gamma_s_per_byte = positive(members, "gamma_s_per_byte"),
          .f_alpha = ratio("f_alpha"),
          .f_beta = ratio("f_beta"),
          .overhead_s = level("overhead_s"),
          .overhead_both_s = level("overhead_both_s"),
          .node_alpha_s = level("node_alpha_s"),
          .node_beta_s_per_byte = level("node_beta_s_per_byte"),
          .node_ways = node_ways_of(members, source),
          .crowded_s = level("crowded_s"),
          .ports = ports_of(members),
          .slow_hosts = slow_hosts_of(members, source)};
}

Machine read_machine(const std::string& path) { return machine_from_json(select::read_text_file(path), path); }

std::string to_json(const Machine& machine, const std::string& about) {
  nlohmann::ordered_json json = {{"circoll_machine", 1}, {"name", machine.name}};
  if (!about.empty()) json["about"] = about;
  json["alpha_s"] = machine.alpha_s;
  json["beta_s_per_byte"] = machine.beta_s_per_byte;
  json["gamma_s_per_byte"] = machine.gamma_s_per_byte;
  json["f_alpha"] = machine.f_alpha;
  json["f_beta"] = machine.f_beta;
  if (machine.overhead_s > 0) json["overhead_s"] = machine.overhead_s;
  if (machine.overhead_both_s > 0) json["overhead_both_s"] = machine.overhead_both_s;
  if (machine.node_alpha_s > 0) json["node_alpha_s"] = machine.node_alpha_s;
  if (machine.node_beta_s_per_byte > 0) json["node_beta_s_per_byte"] = machine.node_beta_s_per_byte;
  for (const NodeWay& way : machine.node_ways) {
    json["node_ways"].push_back({{"name", way.name},
                                 {"from_bytes", way.from_bytes},
                                 {"alpha_s", way.alpha_s},
                                 {"beta_s_per_byte", way.beta_s_per_byte},
                                 {"gamma_s_per_byte", way.gamma_s_per_byte}});
    if (way.overhead_s > 0) json["node_ways"].back()["overhead_s"] = way.overhead_s;
    if (way.read) json["node_ways"].back()["read"] = true;
  }
  if (machine.crowded_s > 0) json["crowded_s"] = machine.crowded_s;
  if (machine.ports > 1) json["ports"] = machine.ports;
  for (const SlowHost& host : machine.slow_hosts)
    json["slow_hosts"].push_back({{"name", host.name}, {"times", host.times}});
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace circoll
