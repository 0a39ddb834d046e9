// Pictures like those of the circulant papers: the whole graph, then its rounds one by one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "show/picture.hpp"

namespace circoll {
namespace {

using Out = std::back_insert_iterator<std::string>;

struct Arrow {
  Rank from = 0;
  Rank to = 0;
  std::int64_t blocks = 0;
  std::string contents{};  ///< "blocks 3-5, 8"
};

/// The messages and ranks of one picture.
struct Scene {
  Rank size = 1;
  Rank focus = 0;  ///< the highlighted rank
  std::vector<std::vector<Arrow>> rounds;
  std::map<std::pair<Rank, Rank>, std::vector<std::size_t>> links;  ///< (from, to) -> rounds
};

struct Point {
  double x = 0;
  double y = 0;
};

/// Lengths in pixels; all that depends on how crowded the picture is.
struct Metrics {
  explicit Metrics(Rank size) : cell(size <= 16 ? 220 : size <= 32 ? 280 : 360) {}

  double cell;  ///< side of the panel of a round; the panel of the graph has twice that
  static constexpr double margin = 24;
  static constexpr double title = 64;
  static constexpr double caption = 40;  ///< above the circle, within the panel
};

/// A circle of ranks in a square panel.
class Circle {
 public:
  Circle(Point corner, double side, Rank size)
      : size_(size),
        center_{corner.x + side / 2, corner.y + Metrics::caption + (side - Metrics::caption) / 2},
        radius_((side - Metrics::caption) / 2 - 18) {
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

/// One decimal, and no "-0.0".
std::string px(double value) {
  const double rounded = std::round(value * 10) / 10;
  return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}
std::string px(Point p) { return px(p.x) + " " + px(p.y); }

std::string path(const Curve& c) {
  return c.bent ? fmt::format("M{} Q{} {}", px(c.begin), px(c.bend), px(c.end))
                : fmt::format("M{} L{}", px(c.begin), px(c.end));
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else if (c >= ' ' && c <= '~')
      result += c;
    else
      result += '?';
  }
  return result;
}

void write_text(Out out, std::string_view css_class, Point at, std::string_view text) {
  fmt::format_to(out, "<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css_class, px(at.x), px(at.y), text);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "0–3 and 7"; shortened if it has more than three parts.
std::string round_list(const std::vector<std::size_t>& rounds) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < rounds.size();) {
    std::size_t last = i;
    while (last + 1 < rounds.size() && rounds[last + 1] == rounds[last] + 1) ++last;
    if (parts.size() == 3) return fmt::format("{}, …", fmt::join(parts, ", "));
    parts.push_back(last == i ? fmt::format("{}", rounds[i]) : fmt::format("{}–{}", rounds[i], rounds[last]));
    i = last + 1;
  }
  std::string end = parts.empty() ? "" : parts.back();
  if (parts.size() < 2) return end;
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), end);
}

/// The blocks of a message in their order: "block 4", "blocks 3–5, 8". It is shortened after eight parts.
std::string contents_of(const Schedule& s, const Operand& message) {
  std::vector<std::pair<Block, Block>> parts;  // first and last of those that follow one another
  Block count = 0;
  for (const Range& range : s.operand(message)) {
    const Slot slots = s.buffers[static_cast<std::size_t>(range.buffer)].slots;
    for (Slot i = 0; i < range.count; ++i, ++count) {
      const Block block = s.block_of(range.buffer, (range.first + i) % slots);
      if (parts.empty() || parts.back().second + 1 != block) {
        if (parts.size() > 8) continue;
        parts.emplace_back(block, block);
      } else {
        parts.back().second = block;
      }
    }
  }
  std::string text = count == 1 ? "block" : "blocks";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [first, last] = parts[i];
    if (i == 8) return text + ", …";
    text += fmt::format("{}{}", i == 0 ? " " : ", ", first);
    if (last > first) text += fmt::format("–{}", last);
  }
  return count == 0 ? "no blocks" : text;
}

Scene scene_of(std::span<const Schedule> ranks) {
  require(!ranks.empty(), "a picture needs the schedules of all ranks");
  const Schedule& first = ranks.front();
  Scene scene;
  scene.size = first.shape.size;
  scene.focus = first.shape.root;
  require(static_cast<Rank>(ranks.size()) == scene.size, "a picture needs the schedules of all ranks");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Schedule& s = ranks[i];
    check_structure(s);
    require(s.shape.rank == static_cast<Rank>(i), "a picture needs the schedules in the order of ranks");
    require(
        s.shape.size == scene.size && s.shape.root == first.shape.root && s.id == first.id && s.rounds == first.rounds,
        "the schedules of a picture differ in size, root, id or number of rounds");
  }
  std::set<std::size_t> used;
  for (const Schedule& s : ranks) {
    for (const Step& step : s.steps) {
      if (step.kind == StepKind::send) used.insert(step.round);
    }
  }
  const std::size_t rounds = used.empty() ? 0 : *used.rbegin() + 1;
  // A number in a schedule that was read from a file must not by itself cost memory.
  require(rounds <= 16 * used.size() + 1024, "a picture of so many empty rounds would be too large");
  scene.rounds.resize(rounds);
  for (const Schedule& s : ranks) {
    for (const Step& step : s.steps) {
      if (step.kind != StepKind::send) continue;
      scene.rounds[step.round].push_back({s.shape.rank, step.peer, s.count(step.left), contents_of(s, step.left)});
      auto& link = scene.links[{s.shape.rank, step.peer}];
      if (link.empty() || link.back() != step.round) link.push_back(step.round);
    }
  }
  return scene;
}

/// "out" from the highlighted rank, "in" to it, "" otherwise.
std::string_view side_of(const Scene& scene, Rank from, Rank to) {
  return from == scene.focus ? "out" : to == scene.focus ? "in" : "other";
}

constexpr double arrow_head = 5;

/// Finds free places for labels along curves; those that find none are left out.
class Labels {
 public:
  explicit Labels(const Circle& circle) : circle_(&circle) {}

  /// `t` is the best place: 0 at the beginning of the curve, 1 at its end.
  void add(const Curve& along, double t, std::string_view css_class, std::string_view text) {
    const double half_width = 3.2 * static_cast<double>(text.size());
    for (const double shift : {0.0, -0.08, 0.08, -0.16, 0.16, -0.24, 0.24}) {
      const Point at = along.at(t + shift);
      if (!is_free(at, half_width)) continue;
      taken_.emplace_back(at, half_width);
      write_text(std::back_inserter(text_), css_class, {at.x, at.y + 4}, text);
      return;
    }
  }
  /// Goes on top of the lines.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] bool is_free(Point at, double half_width) const {
    for (const auto& [other, other_half_width] : taken_) {
      if (std::abs(at.x - other.x) < half_width + other_half_width + 2 && std::abs(at.y - other.y) < 12) return false;
    }
    for (Rank rank = 0; rank < circle_->size(); ++rank) {
      const Point node = circle_->at(rank);
      if (std::hypot(at.x - node.x, at.y - node.y) < circle_->node_radius() + 5 + half_width / 2) return false;
    }
    return true;
  }

  const Circle* circle_;
  std::vector<std::pair<Point, double>> taken_;
  std::string text_;
};

void write_nodes(Out out, const Scene& scene, const Circle& circle) {
  for (Rank rank = 0; rank < scene.size; ++rank) {
    const Point at = circle.at(rank);
    fmt::format_to(out, "<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n",
                   rank == scene.focus ? "node focus" : "node", px(at.x), px(at.y), px(circle.node_radius()));
    if (!circle.has_label(rank)) continue;
    const Point label = circle.labels_inside() ? at : circle.at(rank, circle.node_radius() + 8);
    write_text(out, circle.labels_inside() && rank == scene.focus ? "rank inverse" : "rank", {label.x, label.y + 3},
               fmt::format("{}", rank));
  }
}

void write_graph(Out out, const Scene& scene, Point corner, double side) {
  const Circle circle(corner, side, scene.size);
  write_text(out, "caption", {circle.center().x, corner.y + 16}, "all rounds");
  fmt::format_to(out,
                 "<text class=\"note\" x=\"{}\" y=\"{}\"><tspan class=\"outtext\">from rank {}</tspan>, "
                 "<tspan class=\"intext\">to rank {}</tspan>, in round</text>\n",
                 px(circle.center().x), px(corner.y + 31), scene.focus, scene.focus);
  // The highlighted rank's links come last, on top of the others.
  std::vector<std::pair<std::pair<Rank, Rank>, const std::vector<std::size_t>*>> focus;
  for (const auto& [ends, rounds] : scene.links) {
    if (ends.first == scene.focus || ends.second == scene.focus) {
      focus.emplace_back(ends, &rounds);
      continue;
    }
    if (ends.first > ends.second && scene.links.contains({ends.second, ends.first})) continue;  // drawn already
    fmt::format_to(out, "<path class=\"link\" d=\"{}\"/>\n", path(curve(circle, ends.first, ends.second, false, 0)));
  }
  Labels labels(circle);
  for (const auto& [ends, rounds] : focus) {
    const bool both = scene.links.contains({ends.second, ends.first});
    const Curve c = curve(circle, ends.first, ends.second, both, arrow_head);
    const std::string_view way = side_of(scene, ends.first, ends.second);
    fmt::format_to(out, "<path class=\"link {}\" d=\"{}\" marker-end=\"url(#{})\"/>\n", way, path(c), way);
    // Near the other end the links lie farthest apart.
    const bool outwards = way == "out";
    labels.add(c, outwards ? 0.68 : 0.32, outwards ? "label outtext" : "label intext", round_list(*rounds));
  }
  write_nodes(out, scene, circle);
  fmt::format_to(out, "{}", labels.text());
}

void write_round(Out out, const Scene& scene, std::size_t round, Point corner, double side) {
  const std::vector<Arrow>& messages = scene.rounds[round];
  const Circle circle(corner, side, scene.size);
  std::int64_t least = messages.empty() ? 0 : messages.front().blocks;
  std::int64_t most = least;
  std::set<std::pair<Rank, Rank>> pairs;
  for (const Arrow& m : messages) {
    least = std::min(least, m.blocks);
    most = std::max(most, m.blocks);
    pairs.emplace(m.from, m.to);
  }
  std::string note = plural(static_cast<std::int64_t>(messages.size()), "message");
  if (most > 0) note += least == most ? " of " + plural(most, "block") : fmt::format(" of {}–{} blocks", least, most);
  fmt::format_to(out, "<g>\n");
  write_text(out, "caption", {circle.center().x, corner.y + 16}, fmt::format("round {}", round));
  write_text(out, "note", {circle.center().x, corner.y + 31}, note);
  Labels labels(circle);
  for (const Arrow& m : messages) {
    const Curve c = curve(circle, m.from, m.to, pairs.contains({m.to, m.from}), arrow_head);
    const std::string_view way = side_of(scene, m.from, m.to);
    fmt::format_to(out,
                   "<path class=\"message {}\" d=\"{}\" marker-end=\"url(#{})\"><title>{} → {}: {}</title></path>\n",
                   way, path(c), way, m.from, m.to, m.contents);
    if (least != most) labels.add(c, 0.6, "label", fmt::format("{}", m.blocks));
  }
  write_nodes(out, scene, circle);
  fmt::format_to(out, "{}</g>\n", labels.text());
}

// Colours are those of Okabe and Ito, told apart by colour-blind readers; lighter variants on dark ground.
constexpr std::string_view style = R"(<style>
text { font-family: system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1f2328; text-anchor: middle; }
.ground { fill: #ffffff; }
.title { font-size: 18px; font-weight: 600; text-anchor: start; }
.subtitle { font-size: 12px; fill: #59636e; text-anchor: start; }
.caption { font-size: 13px; font-weight: 600; }
.note { font-size: 11px; fill: #59636e; }
.rank { font-size: 9.5px; }
.inverse { fill: #ffffff; font-weight: 600; }
.label { font-size: 11px; font-weight: 600; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; )"
                                   R"(stroke-linejoin: round; }
.outtext { fill: #c04f00; }
.intext { fill: #0066a8; }
.node { fill: #f3f5f7; stroke: #59636e; stroke-width: 1; }
.focus { fill: #1f2328; stroke: #1f2328; }
.link, .message { fill: none; stroke: #8c959f; stroke-width: 1.1; }
.link { stroke: #c4cbd2; stroke-width: 0.9; }
.out { stroke: #d55e00; stroke-width: 1.8; }
.in { stroke: #0072b2; stroke-width: 1.8; }
.headother { fill: #8c959f; }
.headout { fill: #d55e00; }
.headin { fill: #0072b2; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.ground { fill: #0d1117; }
.subtitle, .note { fill: #9198a1; }
.inverse { fill: #0d1117; }
.label { stroke: #0d1117; }
.outtext { fill: #ffa657; }
.intext { fill: #6cb6ff; }
.node { fill: #21262d; stroke: #9198a1; }
.focus { fill: #e6edf3; stroke: #e6edf3; }
.message { stroke: #6e7681; }
.link { stroke: #3d444d; }
.out { stroke: #f0883e; }
.in { stroke: #58a6ff; }
.headother { fill: #6e7681; }
.headout { fill: #f0883e; }
.headin { fill: #58a6ff; }
}
</style>
)";

}  // namespace

std::string to_svg(std::span<const Schedule> ranks) {
  const Scene scene = scene_of(ranks);
  const Schedule& first = ranks.front();
  const Metrics metrics(scene.size);

  // The graph takes the first two columns of the first two rows; rounds fill the other cells row by row.
  const std::size_t columns = scene.rounds.size() <= 4 ? 4 : scene.rounds.size() <= 12 ? 5 : 6;
  std::vector<std::pair<std::size_t, std::size_t>> cells;  // (row, column)
  for (std::size_t cell = 0; cells.size() < scene.rounds.size(); ++cell) {
    const std::size_t row = cell / columns;
    const std::size_t column = cell % columns;
    if (row >= 2 || column >= 2) cells.emplace_back(row, column);
  }
  const std::size_t rows = std::max<std::size_t>(2, cells.empty() ? 0 : cells.back().first + 1);
  const std::size_t used_columns = scene.rounds.empty() ? 2 : columns;
  const double width = 2 * Metrics::margin + static_cast<double>(used_columns) * metrics.cell;
  const double height = Metrics::title + Metrics::margin + static_cast<double>(rows) * metrics.cell;

  std::string title = first.id;
  std::string subtitle = fmt::format("p = {}", scene.size);
  if (is_rooted(first.collective)) subtitle += fmt::format(", root {}", first.shape.root);
  if (first.blocks() > 1) subtitle += fmt::format(", {}", plural(first.blocks(), "block"));
  std::size_t messages = 0;
  for (const auto& round : scene.rounds) messages += round.size();
  subtitle +=
      fmt::format(", {}, {}", plural(first.rounds, "round"), plural(static_cast<std::int64_t>(messages), "message"));

  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                 "role=\"img\">\n<title>{2}, {3}</title>\n{4}<defs>\n",
                 px(width), px(height), escaped(title), subtitle, style);
  for (const std::string_view way : {"other", "out", "in"}) {
    fmt::format_to(out,
                   "<marker id=\"{0}\" viewBox=\"0 0 8 8\" refX=\"2\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
                   "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"head{0}\" d=\"M0 0.5 L8 4 L0 7.5 "
                   "z\"/></marker>\n",
                   way);
  }
  fmt::format_to(out, "</defs>\n<rect class=\"ground\" width=\"{}\" height=\"{}\"/>\n", px(width), px(height));
  write_text(out, "title", {Metrics::margin, 32}, escaped(title));
  write_text(out, "subtitle", {Metrics::margin, 51}, subtitle);
  write_graph(out, scene, {Metrics::margin, Metrics::title}, 2 * metrics.cell);
  for (std::size_t round = 0; round < cells.size(); ++round) {
    const auto [row, column] = cells[round];
    const Point corner{Metrics::margin + static_cast<double>(column) * metrics.cell,
                       Metrics::title + static_cast<double>(row) * metrics.cell};
    write_round(out, scene, round, corner, metrics.cell);
  }
  fmt::format_to(out, "</svg>\n");
  return text;
}

}  // namespace circoll
