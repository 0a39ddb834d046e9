// The series of a chart are told apart by colour, by marker and by dashes. The legend says which is which.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chart/chart.hpp"

namespace circoll::cli {

/// The look of a series.
class Look {
 public:
  /// The look of the series that the others are compared with, in the colour of the text.
  [[nodiscard]] static Look native() { return {true, 0}; }
  [[nodiscard]] static Look other(std::size_t turn) { return {false, turn}; }

  /// The attributes of a group in which the series is drawn: its class and colour, which its marks inherit.
  [[nodiscard]] std::string group() const;
  /// " stroke-dasharray=...", or nothing.
  [[nodiscard]] std::string dashes() const;
  void draw_marker(Out out, double x, double y) const;
  /// Bars are full and pale in turn.
  [[nodiscard]] bool pale() const { return turn_ % 2 == 1; }
  [[nodiscard]] bool is_native() const { return native_; }

 private:
  Look(bool native, std::size_t turn) : native_(native), turn_(turn) {}
  bool native_;
  std::size_t turn_;
};

struct Series {
  std::string name;
  Look look;
};

/// Names in order with their looks; the one called "native" is native.
[[nodiscard]] std::vector<Series> series_of(const std::vector<std::string>& names);

enum class Swatch { line, bar };

/// A legend between `left` and `right` below `top`. Returns where it ends; draws nothing if `svg` is nullptr.
double draw_legend(std::string* svg, const std::vector<Series>& series, Swatch swatch, double left, double right,
                   double top);

/// The rules of the classes that series have.
extern const std::string_view series_style;

}  // namespace circoll::cli
