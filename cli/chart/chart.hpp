// Parts of charts over sizes: scales, ticks, grid lines and colours, in SVG.
#pragma once

#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::cli {

using Out = std::back_insert_iterator<std::string>;

/// A text escaped for HTML and XML, as text or as the value of an attribute. Characters that XML does not know
/// are replaced.
[[nodiscard]] std::string escaped(std::string_view text);

/// A rectangle in pixels; y grows downwards.
struct Frame {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};

/// Values to pixels. Values beyond the ends lie on the ends.
class Scale {
 public:
  [[nodiscard]] static Scale linear(double low, double high, double from, double to);
  /// 0 < low < high.
  [[nodiscard]] static Scale logarithmic(double low, double high, double from, double to);
  [[nodiscard]] double operator()(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  Scale(double low, double high, double from, double to, bool logarithmic);
  double low_, high_, from_, to_;
  bool logarithmic_;
};

/// Round numbers in [low, high] for a linear axis, some five of them.
[[nodiscard]] std::vector<double> linear_ticks(double low, double high);
/// Round numbers in [low, high] for a logarithmic axis. They are the powers of ten, or some of them, or more than them.
[[nodiscard]] std::vector<double> log_ticks(double low, double high);

/// A grid line through the frame, with its label beside or below it; an empty label gives the line alone.
void draw_row(Out out, const Frame& frame, double y, std::string_view label);
void draw_column(Out out, const Frame& frame, double x, std::string_view label);

/// The beginning of a picture, with the title and the description for people who do not see it. Both are escaped here.
void begin_svg(Out out, double width, double height, std::string_view title, std::string_view description);

/// The rules of the classes that these pictures use.
extern const std::string_view chart_style;

/// Colours told apart by most people who see colours differently (Okabe and Ito), then some more. The last is near to
/// the text's.
inline constexpr std::array<std::string_view, 10> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                                          "#56b4e9", "#8c564b", "#7f7f7f", "#6a3d9a", "#000000"};

}  // namespace circoll::cli
