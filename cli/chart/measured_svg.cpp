// Pictures by themselves, and those of a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/measured_chart.hpp"
#include "circoll/error.hpp"

namespace circoll::cli {
namespace {

constexpr double edge = 24;

Swatch swatch_of(PlotKind kind) { return kind == PlotKind::normalised ? Swatch::bar : Swatch::line; }

std::string description_of(PlotKind kind, const std::vector<Series>& series) {
  std::string text = kind == PlotKind::time    ? "Median times over sizes, both logarithmic:"
                     : kind == PlotKind::ratio ? "Native's time over the time of each, over sizes:"
                                               : "Times over native's as bars, grouped by size:";
  for (const Series& one : series) text += (&one == &series.front() ? " " : ", ") + one.name;
  return text + ".";
}

/// The series that some panel shows.
std::vector<Series> shown_in_any(const Measured& measured, PlotKind kind) {
  std::vector<Series> shown = series_of(measured.algorithms);
  if (kind != PlotKind::time) std::erase_if(shown, [](const Series& one) { return one.look.is_native(); });
  return shown;
}

void require_native(const Panel& panel, PlotKind kind) {
  if (kind == PlotKind::time || panel.lacks_native.empty()) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} has no times of native for {}, which --kind {} compares with; --kind time does not",
                          panel.lacks_native, panel.name(), to_string(kind)));
}

}  // namespace

std::string panels_svg(const Measured& measured, PlotKind kind, const std::string& title) {
  for (const Panel& panel : measured.panels) require_native(panel, kind);
  const std::vector<Series> series = shown_in_any(measured, kind);
  const std::size_t panels = measured.panels.size();
  const auto columns = std::min<std::size_t>(3, static_cast<std::size_t>(std::ceil(std::sqrt(panels))));
  const std::size_t rows = (panels + columns - 1) / columns;
  const double cell_width = panels == 1 ? 840 : 560;
  const double cell_height = panels == 1 ? 480 : 350;
  const double width = 2 * edge + static_cast<double>(columns) * cell_width;
  const bool wrong = any_wrong(measured);
  const double legend_top = wrong ? 84 : 66;
  const double top = 8 + draw_legend(nullptr, series, swatch_of(kind), edge, width - edge, legend_top);
  const double height = top + static_cast<double>(rows) * cell_height + 8;

  std::string svg;
  const Out out(svg);
  begin_svg(out, width, height, title, description_of(kind, series));
  fmt::format_to(out, "<style>{}{}</style>\n", chart_style, series_style);
  fmt::format_to(out, "<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n", width, height);
  fmt::format_to(out, "<text class=\"title\" x=\"{}\" y=\"32\">{}</text>\n", edge, escaped(title));
  fmt::format_to(out, "<text class=\"note\" x=\"{}\" y=\"52\">{}</text>\n", edge, escaped(setting_text(measured)));
  if (wrong) {
    fmt::format_to(out, "<text class=\"wrong\" x=\"{}\" y=\"70\">Some results were wrong.</text>\n", edge);
  }
  draw_legend(&svg, series, swatch_of(kind), edge, width - edge, legend_top);
  for (std::size_t i = 0; i < panels; ++i) {
    const std::size_t row = i / columns;
    const double x = edge + static_cast<double>(i - row * columns) * cell_width;
    const double y = top + static_cast<double>(row) * cell_height;
    draw_panel(out, measured.panels[i], kind, series, {x, x + cell_width, y, y + cell_height},
               measured.panels[i].name());
  }
  svg += "</svg>\n";
  return svg;
}

std::string panel_svg(const Measured& measured, const Panel& panel, PlotKind kind) {
  constexpr double width = 540, plot_height = 340;
  const std::vector<Series> series = shown_in(panel, kind, series_of(measured.algorithms));
  const double top = draw_legend(nullptr, series, swatch_of(kind), 16, width - 16, 8);
  std::string svg;
  const Out out(svg);
  begin_svg(out, width, top + plot_height, panel.name() + ": " + std::string(to_string(kind)),
            description_of(kind, series));
  draw_legend(&svg, series, swatch_of(kind), 16, width - 16, 8);
  draw_panel(out, panel, kind, series, {0, width, top, top + plot_height}, to_string(kind));
  svg += "</svg>\n";
  return svg;
}

}  // namespace circoll::cli
