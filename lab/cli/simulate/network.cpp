// Ranks on a network with a shape, and words about the times on it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "cli/simulate/scene.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::pair<sim::Level, const char*>, 3> levels = {
    {{sim::Level::node, "node"}, {sim::Level::group, "group"}, {sim::Level::system, "system"}}};

/// "64 KiB in 12 messages".
std::string amount(double bytes, Count messages) {
  return fmt::format("{} in {} message{}", readable_bytes(std::llround(bytes)), messages, messages == 1 ? "" : "s");
}

std::string round_in_words(const sim::ContendedRound& round, const sim::Fabric& fabric) {
  std::string line = fmt::format("  {:>6}{:>10}{:>10}{:>10}", round.round, readable_time(round.time_s),
                                 readable_time(round.alone_s), readable_time(round.combined_s));
  if (!round.busiest) return line + fmt::format("  {} messages\n", round.messages);
  const sim::BusiestLink& link = *round.busiest;
  line += fmt::format("  {}: {}", link_name(fabric, link.link), amount(link.bytes, link.messages));
  if (link.capacity != 1) line += fmt::format(", {:.3g} of a port", link.capacity);
  return line + "\n";
}

}  // namespace

sim::Fabric fabric_of(const NetworkOptions& options, Rank p, Rank cores, int ports) {
  if (options.topology.ends_with(".json"))
    (void)measured::read_file_of(options.topology, {measured::FileKind::topology});
  auto topology = sim::read_topology(options.topology, sim::nodes_needed(p, cores));
  std::vector<sim::Node> nodes = place(sim::parse_placement(options.placement), p, cores, topology->nodes());
  return {.topology = std::move(topology), .node_of = std::move(nodes), .ports = ports};
}

std::string network_in_words(const NetworkOptions& options, const sim::Fabric& fabric, Rank cores) {
  return fmt::format("{}, {}, {} on a node", fabric.topology->text(), options.placement,
                     cores == 1 ? "1 rank" : fmt::format("at most {} ranks", cores));
}

std::string contention_in_words(const sim::Contention& contention, const sim::Fabric& fabric, std::size_t most) {
  std::string text = fmt::format("  time {}; {} if no two messages shared a link", readable_time(contention.time_s),
                                 readable_time(contention.alone_s));
  text += contention.alone_s > 0 ? fmt::format(": {:.2f} times\n", contention.time_s / contention.alone_s) : "\n";
  for (const auto& [level, name] : levels) {
    const std::string_view words = fabric.topology->level_name(level);
    const auto i = static_cast<std::size_t>(level);
    if (words.empty()) continue;
    text += fmt::format("  {}: {}\n", words, amount(contention.bytes[i], contention.messages[i]));
  }
  const Count far = contention.messages[1] + contention.messages[2];
  if (far > 0 && fabric.topology->links() > 0) {
    text += fmt::format("  links between switches on the way of a message between nodes: {:.2f}\n",
                        static_cast<double>(contention.hops) / static_cast<double>(far));
  }
  if (contention.rounds.empty()) return text;
  text += fmt::format("  {:>6}{:>10}{:>10}{:>10}  {}\n", "round", "time", "alone", "combining", "busiest link");
  for (std::size_t i = 0; i < contention.rounds.size(); ++i) {
    if (contention.rounds.size() > most && i == most / 2) {
      text += fmt::format("  ... {} more rounds ...\n", contention.rounds.size() - most);
      i += contention.rounds.size() - most;
    }
    text += round_in_words(contention.rounds[i], fabric);
  }
  return text;
}

void add_contention(ordered_json& json, const sim::Contention& contention, const sim::Fabric& fabric) {
  json["time_s"] = contention.time_s;
  json["alone_s"] = contention.alone_s;
  json["hops"] = contention.hops;
  for (const auto& [level, name] : levels) {
    const auto i = static_cast<std::size_t>(level);
    json["levels"][name] = {{"bytes", contention.bytes[i]}, {"messages", contention.messages[i]}};
  }
  json["rounds"] = ordered_json::array();
  for (const sim::ContendedRound& round : contention.rounds) {
    ordered_json one = {{"round", round.round},          {"messages", round.messages}, {"bytes", round.bytes},
                        {"longest", round.longest},      {"time_s", round.time_s},     {"alone_s", round.alone_s},
                        {"combined_s", round.combined_s}};
    if (round.busiest) {
      one["busiest"] = {{"link", link_name(fabric, round.busiest->link)},
                        {"bytes", round.busiest->bytes},
                        {"messages", round.busiest->messages},
                        {"capacity", round.busiest->capacity}};
    }
    json["rounds"].push_back(std::move(one));
  }
}

}  // namespace circoll::cli
