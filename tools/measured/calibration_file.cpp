// Files of samples.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "measured/calibration.hpp"
#include "measured/file_kind.hpp"
#include "select/text_file.hpp"

namespace circoll {
namespace {

constexpr std::pair<SampleKind, std::string_view> kinds[] = {{SampleKind::exchange, "exchange"},
                                                             {SampleKind::ping_pong, "ping_pong"},
                                                             {SampleKind::reduction, "reduction"},
                                                             {SampleKind::node_exchange, "node_exchange"},
                                                             {SampleKind::memory_exchange, "memory_exchange"},
                                                             {SampleKind::memory_reduction, "memory_reduction"},
                                                             {SampleKind::memory_burst, "memory_burst"},
                                                             {SampleKind::memory_crowded, "memory_crowded"}};

std::string names_of_kinds() {
  std::string names;
  for (const auto& [value, name] : kinds) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

/// A list among the members; without one it is empty.
std::span<const select::Json> list_of(const select::Members& members, std::string_view key) {
  const select::Json* const list = members.find(key);
  if (list == nullptr) return {};
  if (list->array() == nullptr) members.fail(*list, "'" + std::string(key) + "' must be an array");
  return *list->array();
}

std::vector<SampledWay> ways_of(const select::Members& members, const std::string& source) {
  std::vector<SampledWay> ways;
  for (const select::Json& entry : list_of(members, "node_ways")) {
    const select::Members way(entry, source, {"name", "from_bytes", "read"});
    ways.push_back({.name = way.text("name"),
                    .from_bytes = way.integer("from_bytes"),
                    .read = way.find("read") != nullptr && way.boolean("read")});
    const bool first = ways.size() == 1;
    if (first ? ways[0].from_bytes < 0 : ways.back().from_bytes <= ways[ways.size() - 2].from_bytes) {
      way.fail(way.at("from_bytes"), "'from_bytes' must grow from way to way, from 0 or more");
    }
  }
  return ways;
}

std::vector<HostTime> hosts_of(const select::Members& members, const std::string& source) {
  std::vector<HostTime> hosts;
  for (const select::Json& entry : list_of(members, "hosts")) {
    const select::Members host(entry, source, {"name", "seconds"});
    hosts.push_back({.name = host.text("name"), .seconds = host.number("seconds")});
    if (!(hosts.back().seconds > 0)) host.fail(host.at("seconds"), "'seconds' must be above 0");
  }
  return hosts;
}

}  // namespace

std::string_view to_string(SampleKind kind) {
  for (const auto& [value, name] : kinds) {
    if (value == kind) return name;
  }
  return "";
}

Calibration calibration_from_json(std::string_view json, const std::string& source) {
  measured::require_kind(json, source, {measured::FileKind::calibration});
  const select::Json root = select::read_json(json, source);
  const select::Members members(root, source,
                                {"circoll_calibration", "name", "about", "samples", "node_ways", "hosts"});
  members.require_version("circoll_calibration");
  Calibration calibration{.name = members.text("name"), .about = members.text("about"), .samples = {}};
  (void)members.at("samples");  // which may be empty, but not missing
  for (const select::Json& entry : list_of(members, "samples")) {
    const select::Members sample(entry, source, {"kind", "bytes", "seconds", "ranks"});
    const std::string kind = sample.text("kind");
    const auto* found =
        std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.second == kind; });
    if (found == std::end(kinds)) sample.fail(entry, "'" + kind + "' is none of " + names_of_kinds());
    const Sample read{.kind = found->first,
                      .bytes = sample.integer("bytes"),
                      .seconds = sample.number("seconds"),
                      .ranks = sample.find("ranks") == nullptr ? 2 : sample.integer("ranks")};
    if (read.bytes < 0) sample.fail(entry, "'bytes' must not be negative");
    if (!(read.seconds > 0)) sample.fail(entry, "'seconds' must be above 0");
    if (read.ranks < 2) sample.fail(sample.at("ranks"), "'ranks' must be at least 2");
    calibration.samples.push_back(read);
  }
  calibration.ways = ways_of(members, source);
  calibration.hosts = hosts_of(members, source);
  return calibration;
}

std::string to_json(const Calibration& calibration) {
  nlohmann::ordered_json samples = nlohmann::ordered_json::array();
  for (const Sample& sample : calibration.samples) {
    samples.push_back({{"kind", to_string(sample.kind)}, {"bytes", sample.bytes}, {"seconds", sample.seconds}});
    if (sample.ranks != 2) samples.back()["ranks"] = sample.ranks;
  }
  nlohmann::ordered_json json = {{"circoll_calibration", 1}, {"name", calibration.name}, {"about", calibration.about}};
  for (const SampledWay& way : calibration.ways) {
    json["node_ways"].push_back({{"name", way.name}, {"from_bytes", way.from_bytes}});
    if (way.read) json["node_ways"].back()["read"] = true;
  }
  for (const HostTime& host : calibration.hosts)
    json["hosts"].push_back({{"name", host.name}, {"seconds", host.seconds}});
  json["samples"] = samples;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace circoll
