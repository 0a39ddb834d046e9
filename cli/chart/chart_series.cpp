#include "chart/chart_series.hpp"

#include <fmt/format.h>

#include <array>

namespace circoll::cli {
namespace {

/// Around the origin, of about equal areas.
constexpr std::array<std::string_view, 7> markers{
    "M-3.6 0A3.6 3.6 0 1 1 3.6 0A3.6 3.6 0 1 1 -3.6 0Z",
    "M-3.2 -3.2H3.2V3.2H-3.2Z",
    "M0 -4.6L4.3 3.2H-4.3Z",
    "M0 -4.8L4.8 0L0 4.8L-4.8 0Z",
    "M0 4.6L4.3 -3.2H-4.3Z",
    "M-1.4 -4H1.4V-1.4H4V1.4H1.4V4H-1.4V1.4H-4V-1.4H-1.4Z",
    "M-4.4 -1.6H4.4V1.6H-4.4Z",
};
constexpr std::array<std::string_view, 4> dash_patterns{"", "7 3", "2 3", "8 3 2 3"};
/// But for the last one, which is native's.
constexpr std::size_t series_colours = colours.size() - 1;

/// The first characters of a long name.
std::string shortened(std::string_view name) {
  constexpr std::size_t most = 44;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(name[i]) & 0xc0U) != 0x80U;
    if (starts && ++characters > most) return std::string(name.substr(0, i)) + "...";
  }
  return std::string(name);
}

/// About as wide as it is drawn: nothing here knows the font.
double width_of(const std::string& label) { return 6.6 * static_cast<double>(label.size()); }

}  // namespace

std::string Look::group() const {
  if (native_) return fmt::format("class=\"series native\" color=\"{}\"", colours.back());
  const std::size_t colour = turn_ % series_colours;
  return fmt::format("class=\"series s{}\" color=\"{}\"", colour, colours[colour]);
}

std::string Look::dashes() const {
  const std::string_view pattern = native_ ? "" : dash_patterns[turn_ % dash_patterns.size()];
  return pattern.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", pattern);
}

void Look::draw_marker(Out out, double x, double y) const {
  fmt::format_to(out, "<path class=\"{}\" transform=\"translate({:.1f} {:.1f})\" d=\"{}\"/>\n",
                 native_ ? "marker hollow" : "marker", x, y, markers[native_ ? 0 : turn_ % markers.size()]);
}

std::vector<Series> series_of(const std::vector<std::string>& names) {
  std::vector<Series> series;
  series.reserve(names.size());
  std::size_t turn = 0;
  for (const std::string& name : names) {
    series.push_back({name, name == "native" ? Look::native() : Look::other(turn++)});
  }
  return series;
}

double draw_legend(std::string* svg, const std::vector<Series>& series, Swatch swatch, double left, double right,
                   double top) {
  constexpr double row = 20, sample = 30, gap = 18;
  double x = left, y = top + 8;
  for (const auto& [name, look] : series) {
    const std::string label = shortened(name);
    const double width = sample + 6 + width_of(label);
    if (x > left && x + width > right) {
      x = left;
      y += row;
    }
    if (svg != nullptr) {
      const Out to(*svg);
      fmt::format_to(to, "<g {}>\n", look.group());
      if (swatch == Swatch::bar) {
        fmt::format_to(to, "<rect class=\"bar{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"10\"/>\n",
                       look.pale() ? " pale" : "", x + 8, y - 5, sample - 8);
      } else {
        fmt::format_to(to, "<line class=\"curve\"{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                       look.dashes(), x, y, x + sample, y);
        look.draw_marker(to, x + sample / 2, y);
      }
      fmt::format_to(to, "<text class=\"entry\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n</g>\n", x + sample + 6, y + 4,
                     escaped(label));
    }
    x += width + gap;
  }
  return y + row - 8;
}

const std::string_view series_style = R"(.series .curve, .interval { stroke: currentColor; }
.interval { stroke-width: 1.2; fill: none; }
.over { stroke: #1f2328; }
.marker { fill: currentColor; stroke: #ffffff; stroke-width: 0.8; }
.hollow { fill: #ffffff; stroke: currentColor; stroke-width: 1.6; }
.bar { fill: currentColor; stroke: currentColor; stroke-width: 1; }
.pale { fill-opacity: 0.3; }
.break { stroke: #ffffff; stroke-width: 3; }
.hit { fill: transparent; stroke: none; }
.one { stroke: #1f2328; stroke-width: 1.4; stroke-dasharray: 6 3; }
.heading { font-size: 14px; font-weight: 600; }
.wrong { fill: #b3261e; font-weight: 600; }
.cut { font-size: 10px; }
)";

}  // namespace circoll::cli
