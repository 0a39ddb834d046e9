// The keys of a topology, and the functions that make one of each kind of them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology.hpp"

namespace circoll::sim {

/// A key of a topology with its value, as it was read.
struct Setting {
  std::string key;
  std::string value;
  std::size_t line = 0;
};

/// The settings of one topology. All functions throw the parse error that `fail` makes of a line and a text.
class Settings {
 public:
  using Fail = std::function<void(std::size_t line, const std::string& what)>;

  Settings(std::string kind, std::vector<Setting> settings, std::size_t line, Fail fail)
      : kind_(std::move(kind)), settings_(std::move(settings)), line_(line), fail_(std::move(fail)) {}

  [[nodiscard]] const std::string& kind() const { return kind_; }
  /// Fails at the first key that is not known, or is there twice.
  void allow(std::span<const std::string_view> known) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] std::string text(std::string_view key) const;
  /// A whole number from 1 to `most`.
  [[nodiscard]] Rank number(std::string_view key, Rank most) const;
  [[nodiscard]] Rank number(std::string_view key, Rank most, Rank fallback) const;
  /// A capacity or ratio: above 0, between 1e-6 and 1e6.
  [[nodiscard]] double ratio(std::string_view key, double fallback) const;
  /// A time of at most one second; 0 if it is not there.
  [[nodiscard]] double time(std::string_view key) const;
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;

 private:
  [[nodiscard]] const Setting* find(std::string_view key) const;

  std::string kind_;
  std::vector<Setting> settings_;
  std::size_t line_;  ///< of the topology
  Fail fail_;
};

/// No network has more nodes or links than these.
inline constexpr Rank most_nodes = Rank{1} << 24;
inline constexpr Rank most_links = Rank{1} << 26;

[[nodiscard]] std::shared_ptr<const Topology> flat_of(const Settings& settings, Rank needed);
[[nodiscard]] std::shared_ptr<const Topology> fat_tree_of(const Settings& settings);
[[nodiscard]] std::shared_ptr<const Topology> dragonfly_of(const Settings& settings);
[[nodiscard]] std::shared_ptr<const Topology> torus_of(const Settings& settings);

/// ",key=value", in the fewest digits that say the number; nothing if the value is `without`, the default.
[[nodiscard]] std::string setting_text(std::string_view key, double value, double without);

}  // namespace circoll::sim
