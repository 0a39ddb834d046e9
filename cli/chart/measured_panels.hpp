// Panels of circoll-bench's measurements, one per collective and number of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "circoll/measured/measurement.hpp"

namespace circoll::cli {

/// The cells of one collective and p.
struct Panel {
  Collective collective = Collective::barrier;
  Rank p = 1;
  std::vector<Combined> cells{};  ///< by size; those of one size in the order of Measured::algorithms
  std::string lacks_native{};     ///< a file that has times here, and none of native to compare with; empty: none

  [[nodiscard]] std::string name() const;  ///< "bcast, p = 4"
};

struct Measured {
  std::string setting;
  std::vector<std::string> files;
  std::vector<std::string> algorithms;  ///< of all panels, native first
  std::vector<Panel> panels;            ///< by collective, then by p
};

/// Names of what is drawn; an empty list is everything.
struct PanelFilter {
  std::vector<std::string> collectives{};
  std::vector<std::string> algorithms{};
};

/// Throws Error(invalid_argument) if nothing is left, if a name of the filter has not been measured, and
/// as combine() does.
[[nodiscard]] Measured measured_from(const std::vector<Launch>& launches, const PanelFilter& filter);

enum class PlotKind { time, ratio, normalised };
inline constexpr PlotKind plot_kinds[] = {PlotKind::time, PlotKind::ratio, PlotKind::normalised};
[[nodiscard]] std::string_view to_string(PlotKind kind);

/// A value with its interval.
struct Value {
  double middle = 0;  ///< 0: there is none
  double low = 0;
  double high = 0;
};

/// A cell's value in a kind of plot: microseconds, native / this, or this / native. Held within the range that
/// can be drawn.
[[nodiscard]] Value value_of(const Combined& cell, PlotKind kind);

/// From this many launches on intervals have 95 % confidence; else they reach from the lowest to the highest launch.
inline constexpr int launches_for_confidence = 6;

/// The setting of the measurements, and the meaning of the intervals, as a line of text.
[[nodiscard]] std::string setting_text(const Measured& measured);

/// True if a result differed from the native one.
[[nodiscard]] bool any_wrong(const Measured& measured);

/// The meaning of `bytes`, for example "bytes of the vector" (docs/measuring.md).
[[nodiscard]] std::string_view meaning_of_bytes(Collective collective);

}  // namespace circoll::cli
