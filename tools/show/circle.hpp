// The circle of ranks in a picture, and the arrows between them.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "circoll/types.hpp"

namespace circoll::picture {

struct Point {
  double x = 0;
  double y = 0;
};

/// Above the circle, within its panel, in pixels.
inline constexpr double caption_height = 40;

/// A circle of ranks in a square panel.
class Circle {
 public:
  Circle(Point corner, double side, Rank size)
      : size_(size),
        center_{corner.x + side / 2, corner.y + caption_height + (side - caption_height) / 2},
        radius_((side - caption_height) / 2 - 18) {
    const double gap = 2 * radius_ * std::sin(std::numbers::pi / static_cast<double>(std::max<Rank>(size, 6)));
    node_ = std::clamp(gap * 0.36, 1.5, side > 400 ? 13.0 : 10.0);
    every_ = labels_inside() ? 1 : static_cast<Rank>(std::ceil(15 / gap));
  }

  [[nodiscard]] Point center() const { return center_; }
  [[nodiscard]] Rank size() const { return size_; }
  [[nodiscard]] double radius() const { return radius_; }
  [[nodiscard]] double node_radius() const { return node_; }
  [[nodiscard]] bool labels_inside() const { return node_ >= (size_ > 100 ? 10.5 : 8.0); }
  /// Labels stand outside the circle at every so many ranks if the nodes are too small to hold them.
  [[nodiscard]] bool has_label(Rank rank) const { return rank % every_ == 0; }
  [[nodiscard]] Point at(Rank rank, double radial_offset = 0) const {
    const double angle = 2 * std::numbers::pi * static_cast<double>(rank) / static_cast<double>(size_);
    const double r = size_ == 1 ? 0 : radius_ + radial_offset;
    return {center_.x + r * std::sin(angle), center_.y - r * std::cos(angle)};
  }

 private:
  Rank size_;
  Point center_;
  double radius_ = 0;
  double node_ = 0;
  Rank every_ = 1;
};

/// A line, or a bow to the left of its direction. So both directions of an exchange can be seen.
struct Curve {
  Point begin;
  Point bend;
  Point end;
  bool bent = false;

  [[nodiscard]] Point at(double t) const {
    const double a = (1 - t) * (1 - t);
    const double b = 2 * t * (1 - t);
    const double c = t * t;
    return {a * begin.x + b * bend.x + c * end.x, a * begin.y + b * bend.y + c * end.y};
  }
};

/// The curve from one rank to another. It ends before the other one's node, where its arrow has a `head` in pixels. Of
/// an exchange there are two, beside each other.
[[nodiscard]] Curve curve(const Circle& circle, Rank from, Rank to, bool exchange, double head);

/// A length in the words of SVG: one decimal, and no "-0.0".
[[nodiscard]] std::string px(double value);
[[nodiscard]] std::string px(Point p);
/// The curve as the `d` of a path.
[[nodiscard]] std::string path(const Curve& c);

}  // namespace circoll::picture
