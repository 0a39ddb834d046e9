#include "show/circle.hpp"

#include <fmt/format.h>

namespace circoll::picture {
namespace {

Point towards(Point from, Point to, double distance) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  return {from.x + (to.x - from.x) * distance / length, from.y + (to.y - from.y) * distance / length};
}

/// The shift of the middle of a line between two ranks, towards the center, to be seen beside the nodes.
double pull(const Circle& circle, Rank from, Rank to) {
  const Point a = circle.at(from);
  const Point b = circle.at(to);
  const Rank around = std::abs(from - to);
  const Rank apart = std::min(around, circle.size() - around);
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double depth =
      circle.radius() *
      (1 - std::cos(std::numbers::pi * static_cast<double>(apart) / static_cast<double>(circle.size())));
  const bool hidden = apart == 1 ? length < 2 * circle.node_radius() + 15 : depth < circle.node_radius() + 4;
  const double wanted = 1.5 * circle.node_radius() + 4 + 2.5 * static_cast<double>(std::min<Rank>(apart, 8));
  return hidden ? std::max(0.0, wanted - depth) : 0;
}

}  // namespace

Curve curve(const Circle& circle, Rank from, Rank to, bool exchange, double head) {
  const Point a = circle.at(from);
  const Point b = circle.at(to);
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  const double bow = exchange ? std::min(0.12 * length, 14.0) : 0;
  Point bend{(a.x + b.x) / 2 + bow * (b.y - a.y) / length, (a.y + b.y) / 2 - bow * (b.x - a.x) / length};
  const double inwards = pull(circle, from, to);
  // The middle of the curve moves half as far as the point that bends it.
  if (inwards > 0) bend = towards(bend, circle.center(), 2 * inwards);
  return {towards(a, bend, circle.node_radius()), bend, towards(b, bend, circle.node_radius() + head),
          bow > 0 || inwards > 0};
}

std::string px(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}
std::string px(Point p) { return px(p.x) + " " + px(p.y); }

std::string path(const Curve& c) {
  return c.bent ? fmt::format("M{} Q{} {}", px(c.begin), px(c.bend), px(c.end))
                : fmt::format("M{} L{}", px(c.begin), px(c.end));
}

}  // namespace circoll::picture
