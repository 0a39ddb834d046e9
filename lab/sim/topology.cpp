// Topologies as people write them, and the network that is a single switch.
#include "sim/topology.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "select/text_file.hpp"
#include "sim/sim.hpp"
#include "sim/text.hpp"
#include "sim/topologies.hpp"

namespace circoll::sim {
namespace {

std::string shortest(double value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  check(error == std::errc{}, "a double has at most 32 characters");
  return {digits.data(), end};
}

/// One switch that is never in the way.
class Flat final : public Topology {
 public:
  explicit Flat(Rank nodes) : Topology(nodes, 0, 0, nodes, {"between nodes", ""}) {}

  void route(Node /*from*/, Node /*to*/, std::vector<Link>& /*links*/) const override {}
  [[nodiscard]] double capacity(Link /*link*/) const override { return 1; }
  [[nodiscard]] std::string name(Link /*link*/) const override { return {}; }
  [[nodiscard]] std::string text() const override { return "flat:nodes=" + std::to_string(nodes()); }
};

std::shared_ptr<const Topology> topology_of(const Settings& settings, Rank needed) {
  if (settings.kind() == "flat") return flat_of(settings, needed);
  if (settings.kind() == "fat_tree") return fat_tree_of(settings);
  if (settings.kind() == "dragonfly") return dragonfly_of(settings);
  if (settings.kind() == "torus") return torus_of(settings);
  settings.fail("kind", excerpt(settings.kind()) + " is no topology; known are flat, fat_tree, dragonfly, torus");
}

/// The value of a JSON member as it would be written in words; nothing if it could not be.
std::optional<std::string> in_words(const select::Json& json) {
  if (const auto* text = json.string()) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&json.value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&json.value)) return shortest(*number);
  if (json.array() == nullptr) return std::nullopt;
  std::string list;
  for (const select::Json& one : *json.array()) {
    const auto* number = std::get_if<std::int64_t>(&one.value);
    if (number == nullptr) return std::nullopt;
    list += (list.empty() ? "" : "x") + std::to_string(*number);
  }
  return list;
}

}  // namespace

const Setting* Settings::find(std::string_view key) const {
  const auto at = std::find_if(settings_.begin(), settings_.end(), [&](const Setting& s) { return s.key == key; });
  return at == settings_.end() ? nullptr : &*at;
}

void Settings::fail(std::string_view key, const std::string& what) const {
  const Setting* const setting = find(key);
  fail_(setting == nullptr ? line_ : setting->line, what);
  throw Error(ErrorCode::internal, "a topology's error was not thrown");
}

void Settings::allow(std::span<const std::string_view> known) const {
  for (const Setting& setting : settings_) {
    if (std::find(known.begin(), known.end(), setting.key) == known.end()) {
      std::string text = excerpt(setting.key) + " is no key of " + kind_ + "; known are";
      for (const std::string_view word : known) text += " " + std::string(word);
      fail(setting.key, text);
    }
    if (find(setting.key) != &setting) fail_(setting.line, setting.key + " is given twice");
  }
}

std::string Settings::text(std::string_view key) const {
  const Setting* const setting = find(key);
  if (setting == nullptr) fail(key, kind_ + " needs " + std::string(key));
  return setting->value;
}

Rank Settings::number(std::string_view key, Rank most) const {
  const std::string value = text(key);
  const auto number = parse_number(value);
  if (!number || *number < 1 || *number > most)
    fail(key, std::string(key) + " is a number from 1 to " + std::to_string(most) + ", not " + excerpt(value));
  return *number;
}

Rank Settings::number(std::string_view key, Rank most, Rank fallback) const {
  return has(key) ? number(key, most) : fallback;
}

double Settings::ratio(std::string_view key, double fallback) const {
  if (!has(key)) return fallback;
  const std::string value = text(key);
  double ratio = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ratio);
  if (error != std::errc{} || end != value.data() + value.size() || !(ratio >= 1e-6 && ratio <= 1e6))
    fail(key, std::string(key) + " is a number above 0, from 1e-6 to 1e6, not " + excerpt(value));
  return ratio;
}

double Settings::time(std::string_view key) const {
  if (!has(key)) return 0;
  const std::string value = text(key);
  const auto time = parse_time(value);
  if (!time || *time > 1)
    fail(key, std::string(key) + " is a time of at most 1 s, such as 100ns, not " + excerpt(value));
  return *time;
}

std::string setting_text(std::string_view key, double value, double without) {
  return value == without ? std::string() : "," + std::string(key) + "=" + shortest(value);
}

std::shared_ptr<const Topology> flat_of(const Settings& settings, Rank needed) {
  settings.allow(std::array<std::string_view, 1>{"nodes"});
  return std::make_shared<Flat>(settings.number("nodes", most_nodes, needed));
}

std::shared_ptr<const Topology> parse_topology(std::string_view text, Rank needed) {
  require(needed >= 1 && needed <= most_nodes, "a network has 1 to 2^24 nodes");
  const auto fail = [&](std::size_t /*line*/, const std::string& what) {
    throw Error(ErrorCode::parse, "topology " + excerpt(text) + ": " + what);
  };
  const std::size_t colon = text.find(':');
  std::vector<Setting> settings;
  for (const std::string& item : split_list(colon == std::string_view::npos ? "" : text.substr(colon + 1))) {
    const std::size_t equal = item.find('=');
    if (equal == std::string::npos) fail(0, excerpt(item) + " is not key=value");
    settings.push_back({item.substr(0, equal), item.substr(equal + 1)});
  }
  return topology_of({std::string(text.substr(0, colon)), std::move(settings), 0, fail}, needed);
}

std::shared_ptr<const Topology> topology_from_json(std::string_view json, const std::string& source, Rank needed) {
  require(needed >= 1 && needed <= most_nodes, "a network has 1 to 2^24 nodes");
  const select::Json root = select::read_json(json, source);
  const select::Members members(root, source);
  members.require_version("circoll_topology");
  if (members.find("about") != nullptr) (void)members.text("about");
  std::vector<Setting> settings;
  for (const auto& [key, value] : *root.object()) {
    if (key == "circoll_topology" || key == "kind" || key == "about") continue;
    auto words = in_words(value);
    if (!words) members.fail(value, excerpt(key) + " is a number, a text, or a list of whole numbers");
    settings.push_back({key, std::move(*words), value.line});
  }
  const auto fail = [&](std::size_t line, const std::string& what) { select::fail_at(source, line, what); };
  return topology_of({members.text("kind"), std::move(settings), members.at("kind").line, fail}, needed);
}

std::shared_ptr<const Topology> read_topology(const std::string& words_or_file, Rank needed) {
  if (!words_or_file.ends_with(".json")) return parse_topology(words_or_file, needed);
  return topology_from_json(select::read_text_file(words_or_file), words_or_file, needed);
}

}  // namespace circoll::sim
