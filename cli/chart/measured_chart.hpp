// A panel of measurements as a chart.
#pragma once

#include <string>
#include <string_view>

#include "chart/chart_series.hpp"
#include "chart/measured_panels.hpp"

namespace circoll::cli {

/// The series that a panel shows, out of these. Native is left out where it is the line of the ones.
[[nodiscard]] std::vector<Series> shown_in(const Panel& panel, PlotKind kind, const std::vector<Series>& series);

/// Draws a panel into a rectangle, with a heading and axes:
/// - time: median times over sizes, both logarithmic, with intervals of several launches;
/// - ratio: native's time over each, on a logarithmic axis;
/// - normalised: bars, grouped by size, of each time over native's, as in the circulant papers.
/// Every mark says its numbers when it is pointed at.
void draw_panel(Out out, const Panel& panel, PlotKind kind, const std::vector<Series>& series, const Frame& outer,
                std::string_view heading);

/// All panels of one kind as a picture by itself. Throws Error(invalid_argument) if the kind needs times of native that
/// a file does not have.
[[nodiscard]] std::string panels_svg(const Measured& measured, PlotKind kind, const std::string& title);

/// One panel with its legend, for a page that brings the styles.
[[nodiscard]] std::string panel_svg(const Measured& measured, const Panel& panel, PlotKind kind);

/// The numbers of a cell in a line.
[[nodiscard]] std::string described(const Combined& cell);

}  // namespace circoll::cli
