#include "chart/measured_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/median.hpp"
#include "core/text.hpp"

namespace circoll::cli {
namespace {

/// The margin around a plot within its rectangle.
constexpr Frame margin{.left = 58, .right = 46, .top = 50, .bottom = 46};
/// The space between the end of the axis of bars and the edge of the plot. It has the numbers of bars that are cut.
constexpr double headroom = 34;

std::string_view caption_of(PlotKind kind) {
  switch (kind) {
    case PlotKind::time:
      return "time in us; lower is faster";
    case PlotKind::ratio:
      return "native's time / time; above 1 is faster than native";
    case PlotKind::normalised:
      return "time / native's time; below 1 is faster than native";
  }
  return {};
}

/// A panel while it is drawn.
class Drawing {
 public:
  Drawing(Out out, const Panel& panel, PlotKind kind, const std::vector<Series>& series, const Frame& outer)
      : out_(out),
        panel_(panel),
        kind_(kind),
        series_(shown_in(panel, kind, series)),
        frame_{outer.left + margin.left, outer.right - margin.right, outer.top + margin.top,
               outer.bottom - margin.bottom} {
    for (const Combined& cell : panel.cells) {
      if (sizes_.empty() || sizes_.back() != cell.row.bytes) sizes_.push_back(cell.row.bytes);
      if (const Value value = shown(cell); value.middle > 0) values_.push_back(value);
    }
  }

  void draw(std::string_view heading) {
    draw_names(heading);
    if (values_.empty()) {
      fmt::format_to(out_,
                     "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">nothing to draw</text>\n",
                     (frame_.left + frame_.right) / 2, (frame_.top + frame_.bottom) / 2);
      return;
    }
    const Scale y = kind_ == PlotKind::normalised ? linear_scale() : logarithmic_scale();
    draw_axes(y);
    for (std::size_t i = 0; i < series_.size(); ++i) draw_series(i, y);
  }

 private:
  /// Native is the line of the ones in plots that compare with it.
  [[nodiscard]] Value shown(const Combined& cell) const {
    if (kind_ != PlotKind::time && cell.row.algorithm == "native") return {};
    return value_of(cell, kind_);
  }

  [[nodiscard]] Scale logarithmic_scale() const {
    double low = kind_ == PlotKind::ratio ? 0.8 : values_[0].low;
    double high = kind_ == PlotKind::ratio ? 1.25 : values_[0].high;
    for (const Value& value : values_) {
      low = std::min(low, value.low);
      high = std::max(high, value.high);
    }
    const double room = std::max(std::pow(high / low, 0.05), 1.05);
    return Scale::logarithmic(low / room, high * room, frame_.bottom, frame_.top);
  }

  /// Bars start at 0. A few that are very long are cut, so that the others can be read.
  [[nodiscard]] Scale linear_scale() {
    std::vector<double> middles;
    double most = 1;
    for (const Value& value : values_) {
      middles.push_back(value.middle);
      most = std::max(most, value.high);
    }
    std::sort(middles.begin(), middles.end());
    const double enough = std::max(3.0, 2 * median_of_sorted(middles));
    cuts_ = middles.back() > 1.4 * enough;
    const double high = cuts_ ? enough : std::max(1.2, std::min(most, 1.5 * enough) * 1.04);
    return Scale::linear(0, high, frame_.bottom, frame_.top + (cuts_ ? headroom : 0));
  }

  /// The middle of a size: evenly spaced for bars, by its logarithm for lines. Nothing stands left of 1 byte.
  [[nodiscard]] double x_of(Count bytes) const {
    const double width = frame_.right - frame_.left;
    if (kind_ == PlotKind::normalised) {
      const auto at = std::find(sizes_.begin(), sizes_.end(), bytes) - sizes_.begin();
      return frame_.left + width * (static_cast<double>(at) + 0.5) / static_cast<double>(sizes_.size());
    }
    if (sizes_.size() == 1) return (frame_.left + frame_.right) / 2;
    const auto position = [](Count size) { return std::log2(std::max(static_cast<double>(size), 0.5)); };
    const double first = position(sizes_.front()), last = position(sizes_.back());
    return frame_.left + 16 + (width - 32) * (position(bytes) - first) / (last - first);
  }

  void draw_names(std::string_view heading) {
    fmt::format_to(out_, "<text class=\"heading\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", frame_.left, frame_.top - 28,
                   heading);
    fmt::format_to(out_, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", frame_.left, frame_.top - 10,
                   caption_of(kind_));
    fmt::format_to(out_, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                   (frame_.left + frame_.right) / 2, frame_.bottom + 36, meaning_of_bytes(panel_.collective));
  }

  void draw_axes(const Scale& y) {
    const bool bars = kind_ == PlotKind::normalised;
    for (const double tick : bars ? linear_ticks(0, y.high()) : log_ticks(y.low(), y.high())) {
      draw_row(out_, frame_, y(tick), tick >= 1e6 ? fmt::format("{:.0e}", tick) : fmt::format("{:.6g}", tick));
    }
    std::optional<double> last;  // of the labels, which must not touch
    for (const Count size : sizes_) {
      const double x = x_of(size);
      if (last && x - *last < 52) continue;
      last = x;
      if (bars) {
        fmt::format_to(out_, "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x,
                       frame_.bottom + 18, readable_bytes(size));
      } else {
        draw_column(out_, frame_, x, readable_bytes(size));
      }
    }
    if (kind_ == PlotKind::time) return;
    fmt::format_to(out_, "<line class=\"one\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", frame_.left,
                   y(1), frame_.right, y(1));
    fmt::format_to(out_, "<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">native</text>\n", frame_.right + 5, y(1) + 4);
  }

  void draw_series(std::size_t index, const Scale& y) {
    const Look& look = series_[index].look;
    std::vector<const Combined*> cells;
    for (const Combined& cell : panel_.cells) {
      if (cell.row.algorithm == series_[index].name && shown(cell).middle > 0) cells.push_back(&cell);
    }
    if (cells.empty()) return;
    fmt::format_to(out_, "<g {}>\n", look.group());
    if (kind_ == PlotKind::normalised) {
      for (const Combined* cell : cells) draw_bar(*cell, look, index, y);
    } else {
      fmt::format_to(out_, "<polyline class=\"curve\"{} points=\"", look.dashes());
      for (const Combined* cell : cells) {
        fmt::format_to(out_, "{}{:.1f},{:.1f}", cell == cells.front() ? "" : " ", x_of(cell->row.bytes),
                       y(shown(*cell).middle));
      }
      fmt::format_to(out_, "\"/>\n");
      for (const Combined* cell : cells) draw_point(*cell, look, y);
    }
    fmt::format_to(out_, "</g>\n");
  }

  void draw_interval(const Combined& cell, double x, double half, const Scale& y) {
    if (cell.launches < 2) return;
    const Value value = shown(cell);
    // A bar would hide one of its own colour.
    const std::string_view over = kind_ == PlotKind::normalised ? " over" : "";
    fmt::format_to(out_,
                   "<path class=\"interval{5}\" d=\"M{0:.1f} {3:.1f}H{2:.1f}M{1:.1f} {3:.1f}V{4:.1f}M{0:.1f} "
                   "{4:.1f}H{2:.1f}\"/>\n",
                   x - half, x, x + half, y(value.high), y(value.low), over);
  }

  void draw_point(const Combined& cell, const Look& look, const Scale& y) {
    const double x = x_of(cell.row.bytes);
    const double middle = y(shown(cell).middle);
    fmt::format_to(
        out_, "<g class=\"point\"><title>{}</title>\n<circle class=\"hit\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"9\"/>\n",
        escaped(described(cell)), x, middle);
    draw_interval(cell, x, 3, y);
    look.draw_marker(out_, x, middle);
    fmt::format_to(out_, "</g>\n");
  }

  void draw_bar(const Combined& cell, const Look& look, std::size_t index, const Scale& y) {
    const auto bars = static_cast<double>(series_.size());
    const double group = (frame_.right - frame_.left) / static_cast<double>(sizes_.size());
    const double width = std::min(0.82 * group / bars, 40.0);
    const double left = x_of(cell.row.bytes) + width * (static_cast<double>(index) - bars / 2);
    const Value value = shown(cell);
    const bool cut = cuts_ && value.middle > y.high();
    const double top = y(value.middle);
    fmt::format_to(out_, "<g class=\"point\"><title>{}</title>\n", escaped(described(cell)));
    fmt::format_to(out_, "<rect class=\"bar{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                   look.pale() ? " pale" : "", left + 0.5, top, std::max(width - 1, 0.6), frame_.bottom - top);
    const double x = left + width / 2;
    if (cut) {
      fmt::format_to(out_, "<line class=\"break\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                     left - 1, top + 14, left + width + 1, top + 8);
      if (width >= 6.5) {
        fmt::format_to(out_, "<text class=\"cut\" transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{:.3g}</text>\n",
                       x + 3.5, top - 4, value.middle);
      }
    } else {
      draw_interval(cell, x, std::min(3.0, width / 4), y);
    }
    fmt::format_to(out_, "</g>\n");
  }

  Out out_;
  const Panel& panel_;
  PlotKind kind_;
  std::vector<Series> series_;
  Frame frame_;
  std::vector<Count> sizes_;
  std::vector<Value> values_;  ///< all that are drawn
  bool cuts_ = false;
};

}  // namespace

std::string described(const Combined& cell) {
  const Measurement& row = cell.row;
  const auto with_interval = [&](const Value& value, std::string_view unit) {
    std::string text = fmt::format("{:.4g}{}", value.middle, unit);
    if (cell.launches > 1) text += fmt::format(" [{:.4g}, {:.4g}]", value.low, value.high);
    return text;
  };
  std::string text = row.algorithm == row.served_by ? row.algorithm : row.algorithm + " (" + row.served_by + ")";
  text += fmt::format(", {}: {}", readable_bytes(row.bytes), with_interval(value_of(cell, PlotKind::time), " us"));
  if (cell.speedup > 0 && row.algorithm != "native") {
    text += "; native / this " + with_interval(value_of(cell, PlotKind::ratio), "");
  }
  text += fmt::format("; {} {}, {} repetitions", cell.launches, cell.launches == 1 ? "launch" : "launches", row.reps);
  return row.wrong ? text + "; WRONG RESULTS" : text;
}

std::vector<Series> shown_in(const Panel& panel, PlotKind kind, const std::vector<Series>& series) {
  std::vector<Series> shown;
  for (const Series& one : series) {
    const bool is_there = std::any_of(panel.cells.begin(), panel.cells.end(),
                                      [&](const Combined& cell) { return cell.row.algorithm == one.name; });
    if (is_there && (kind == PlotKind::time || !one.look.is_native())) shown.push_back(one);
  }
  return shown;
}

void draw_panel(Out out, const Panel& panel, PlotKind kind, const std::vector<Series>& series, const Frame& outer,
                std::string_view heading) {
  Drawing(out, panel, kind, series, outer).draw(heading);
}

}  // namespace circoll::cli
