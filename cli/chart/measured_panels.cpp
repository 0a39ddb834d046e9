#include "chart/measured_panels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"

namespace circoll::cli {
namespace {

constexpr std::string_view native = "native";

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool passes(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || is_in(names, name);
}

/// The first of the files that has measured something of this panel without native.
std::string first_without_native(const std::vector<Launch>& launches, const Panel& panel) {
  for (const Launch& launch : launches) {
    std::vector<Count> sizes, compared;
    for (const Measurement& row : launch.rows) {
      if (row.collective != panel.collective || row.p != panel.p) continue;
      (row.algorithm == native ? compared : sizes).push_back(row.bytes);
    }
    for (const Count size : sizes) {
      if (std::find(compared.begin(), compared.end(), size) == compared.end()) return launch.source;
    }
  }
  return {};
}

/// All that the launches have measured, native first, then by first appearance.
std::vector<std::string> algorithms_in(const std::vector<Combined>& cells) {
  std::vector<std::string> names;
  for (const Combined& cell : cells) {
    if (!is_in(names, cell.row.algorithm)) names.push_back(cell.row.algorithm);
  }
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == native; });
  return names;
}

void require_known(const PanelFilter& filter, const std::vector<std::string>& algorithms) {
  for (const std::string& name : filter.algorithms) {
    if (is_in(algorithms, name)) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' has not been measured; there are {}", name, fmt::join(algorithms, ", ")));
  }
}

std::size_t place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// The meaning of the intervals; empty if there are none.
std::string about_intervals(const Measured& measured) {
  int fewest = launches_for_confidence, most = 0;
  for (const Panel& panel : measured.panels) {
    for (const Combined& cell : panel.cells) {
      if (cell.launches > 0) fewest = std::min(fewest, cell.launches);
      most = std::max(most, cell.launches);
    }
  }
  if (most < 2) return {};
  if (fewest >= launches_for_confidence) return "intervals: 95 % confidence";
  if (most < launches_for_confidence) return "intervals: lowest to highest launch (95 % confidence takes six)";
  return "intervals: 95 % confidence, or lowest to highest launch where fewer than six";
}

}  // namespace

std::string Panel::name() const { return fmt::format("{}, p = {}", to_string(collective), p); }

Measured measured_from(const std::vector<Launch>& launches, const PanelFilter& filter) {
  const std::vector<Combined> cells = combine(launches);
  std::vector<std::string> algorithms = algorithms_in(cells);
  require_known(filter, algorithms);
  std::map<std::pair<Collective, Rank>, Panel> panels;
  for (const Combined& cell : cells) {
    const Measurement& row = cell.row;
    if (!passes(filter.collectives, to_string(row.collective)) || !passes(filter.algorithms, row.algorithm)) continue;
    Panel& panel = panels[{row.collective, row.p}];
    panel.collective = row.collective;
    panel.p = row.p;
    panel.cells.push_back(cell);
  }
  if (panels.empty()) throw Error(ErrorCode::invalid_argument, "nothing of what is to be drawn has been measured");
  std::erase_if(algorithms, [&](const std::string& name) { return !passes(filter.algorithms, name); });
  Measured measured{
      .setting = launches.front().setting, .files = {}, .algorithms = std::move(algorithms), .panels = {}};
  for (const Launch& launch : launches) measured.files.push_back(launch.source);
  for (auto& [key, panel] : panels) {
    std::stable_sort(panel.cells.begin(), panel.cells.end(), [&](const Combined& a, const Combined& b) {
      return std::pair(a.row.bytes, place_in(measured.algorithms, a.row.algorithm)) <
             std::pair(b.row.bytes, place_in(measured.algorithms, b.row.algorithm));
    });
    panel.lacks_native = first_without_native(launches, panel);
    measured.panels.push_back(std::move(panel));
  }
  return measured;
}

std::string_view to_string(PlotKind kind) {
  return kind == PlotKind::time ? "time" : kind == PlotKind::ratio ? "ratio" : "normalised";
}

Value value_of(const Combined& cell, PlotKind kind) {
  // Beyond these the files are in error; what is drawn of them stays finite.
  const auto held = [](double value, double most) { return std::clamp(value, 1 / most, most); };
  if (kind == PlotKind::time) {
    if (!(cell.row.median_s > 0)) return {};
    return {held(cell.row.median_s * 1e6, 1e15), held(cell.low_s * 1e6, 1e15), held(cell.high_s * 1e6, 1e15)};
  }
  if (!(cell.speedup > 0)) return {};
  const Value ratio{held(cell.speedup, 1e9), held(cell.speedup_low, 1e9), held(cell.speedup_high, 1e9)};
  return kind == PlotKind::ratio ? ratio : Value{1 / ratio.middle, 1 / ratio.high, 1 / ratio.low};
}

std::string setting_text(const Measured& measured) {
  const std::size_t n = measured.files.size();
  std::string text = fmt::format("{}; {}", measured.setting, n == 1 ? "1 launch" : fmt::format("{} launches", n));
  if (const std::string intervals = about_intervals(measured); !intervals.empty()) text += "; " + intervals;
  return text;
}

bool any_wrong(const Measured& measured) {
  return std::any_of(measured.panels.begin(), measured.panels.end(), [](const Panel& panel) {
    return std::any_of(panel.cells.begin(), panel.cells.end(), [](const Combined& cell) { return cell.row.wrong; });
  });
}

std::string_view meaning_of_bytes(Collective collective) {
  switch (traits_of(collective).blocks) {
    case Blocks::per_rank:
      return "bytes of a rank's block";
    case Blocks::per_pair:
      return "bytes that a rank sends";
    case Blocks::one:
      break;
  }
  return "bytes of the vector";
}

}  // namespace circoll::cli
