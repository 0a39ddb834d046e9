// Pictures of simulated runs: every step of few ranks over time, or how idle many ranks are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "chart/chart.hpp"
#include "circoll/error.hpp"
#include "core/text.hpp"
#include "simulate/play.hpp"

namespace circoll::cli {
namespace {

constexpr Rank most_lanes = 64;             ///< ranks with rows of their own
constexpr std::size_t most_drawn = 20'000;  ///< steps that are drawn one by one
constexpr double left = 64;
constexpr double right = 940;
constexpr double top = 62;

/// The look of the steps of one kind, and the part of a rank's row in which they stand.
struct Look {
  std::string_view fill;
  std::string_view says;
  int lane;
};
constexpr Look send_look{"#0072b2", "sends", 0};
constexpr Look receive_look{"#e69f00", "receives", 1};
constexpr Look combine_look{"#009e73", "combines", 2};

const Look& look_of(StepKind kind) {
  return kind == StepKind::send ? send_look : is_receive(kind) ? receive_look : combine_look;
}

/// The frame, the title and the axis of time, with `legend` in pixels left below.
Scale begin_picture(Out out, const sim::Outcome& outcome, double bottom, double legend, const std::string& title,
                    const std::string& description) {
  const Frame frame{.left = left, .right = right, .top = top, .bottom = bottom};
  const double end_s = outcome.time_s > 0 ? outcome.time_s : 1;
  const Scale x = Scale::linear(0, end_s, left, right);
  begin_svg(out, right + 30, bottom + 40 + legend, title, description);
  fmt::format_to(out, "<style>{}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n", chart_style);
  fmt::format_to(out, "<text class=\"title\" x=\"{}\" y=\"26\">{}</text>\n", left, escaped(title));
  fmt::format_to(out, "<text class=\"note\" x=\"{}\" y=\"46\">{}</text>\n", left, escaped(description));
  for (const double tick : linear_ticks(0, end_s))
    draw_column(out, frame, x(tick), tick == 0 ? "0" : readable_time(tick));
  return x;
}

void draw_legend_entry(Out out, double x, double y, std::string_view fill, std::string_view says) {
  fmt::format_to(out,
                 "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\" stroke=\"#59636e\"/>\n"
                 "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                 x, y, fill, x + 18, y + 10, says);
}

/// A row for each rank with a lane for sends, receives and combinations, and a line for each message.
std::string lanes(const sim::Ranks& ranks, const sim::Outcome& outcome, Count bytes, const std::string& title) {
  const double row = ranks.size() <= 16 ? 36 : ranks.size() <= 32 ? 24 : 15;
  const double lane = row / 3 - 1;
  const double bottom = top + row * static_cast<double>(ranks.size());
  const auto y_of = [&](Rank rank) { return top + row * static_cast<double>(rank); };
  std::string svg;
  const Out out(svg);
  const Scale x = begin_picture(out, outcome, bottom, 34, title,
                                "The steps of every rank over time; those of the critical path are framed.");
  std::set<std::pair<Rank, StepIndex>> critical;
  for (const sim::PathStep& step : critical_path(outcome)) critical.emplace(step.rank, step.step);
  std::string messages;
  for (Rank r = 0; r < ranks.size(); ++r) {
    const double y = y_of(r);
    fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y + row / 2 + 4, r);
    fmt::format_to(out, "<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>\n", left, y, right, y);
    const std::size_t first = outcome.first_step[static_cast<std::size_t>(r)];
    for (std::size_t i = first; i < outcome.first_step[static_cast<std::size_t>(r) + 1]; ++i) {
      const auto step = static_cast<StepIndex>(i - first);
      const StepKind kind = kind_of(ranks, r, step);
      if (kind == StepKind::copy) continue;
      const sim::PlayedStep& played = outcome.played[i];
      const Look& look = look_of(kind);
      fmt::format_to(
          out,
          "<rect class=\"step\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"{}>"
          "<title>{}</title></rect>\n",
          x(played.begin_s), y + 1 + look.lane * (lane + 1), std::max(0.5, x(played.end_s) - x(played.begin_s)), lane,
          look.fill, critical.contains({r, step}) ? " stroke=\"#000000\" stroke-width=\"1.4\"" : "",
          escaped(fmt::format("rank {} {}: {} to {}", r, describe(ranks, r, step, static_cast<double>(bytes)),
                              readable_time(played.begin_s), readable_time(played.end_s))));
      if (played.sender < 0) continue;
      const sim::PlayedStep& sent =
          outcome.played[outcome.first_step[static_cast<std::size_t>(played.sender)] + played.sender_step];
      fmt::format_to(std::back_inserter(messages),
                     "<line class=\"message\" x1=\"{:.2f}\" y1=\"{:.1f}\" x2=\"{:.2f}\" y2=\"{:.1f}\" "
                     "stroke=\"#59636e\" stroke-opacity=\"0.45\"/>\n",
                     x(sent.begin_s), y_of(played.sender) + lane / 2, x(played.end_s), y + 1.5 * lane + 2);
    }
  }
  svg += messages;
  double at = left;
  for (const Look& look : {send_look, receive_look, combine_look}) {
    draw_legend_entry(out, at, bottom + 34, look.fill, look.says);
    at += 110;
  }
  svg += "</svg>\n";
  return svg;
}

/// The share of each interval of time in which the ranks of a row are idle, after they have begun.
std::vector<double> idle_shares(const sim::Ranks& ranks, const sim::Outcome& outcome, Rank first, Rank end,
                                std::size_t columns) {
  const double width_s = outcome.time_s / static_cast<double>(columns);
  std::vector<double> shares(columns, 0);
  const auto add = [&](double from_s, double to_s) {
    auto column = static_cast<std::size_t>(std::max(0.0, from_s / width_s));
    for (; column < columns && static_cast<double>(column) * width_s < to_s; ++column) {
      const double low = std::max(from_s, static_cast<double>(column) * width_s);
      const double high = std::min(to_s, static_cast<double>(column + 1) * width_s);
      if (high > low) shares[column] += (high - low) / width_s;
    }
  };
  for (Rank r = first; r < end; ++r) {
    double until = outcome.begin_s[static_cast<std::size_t>(r)];
    for (const auto& [from_s, to_s] : busy_times(ranks, outcome, r)) {
      add(until, from_s);
      until = to_s;
    }
    add(until, outcome.time_s);
  }
  for (double& share : shares) share /= static_cast<double>(end - first);
  return shares;
}

constexpr int shades = 20;

/// White to dark red.
std::string shade(int level) {
  const double t = static_cast<double>(level) / shades;
  const auto mixed = [&](double to) { return static_cast<int>(std::lround(255 + (to - 255) * t)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0xb2), mixed(0x18), mixed(0x2b));
}

/// Rows of ranks by intervals of time, the darker the more idle.
std::string heat_map(const sim::Ranks& ranks, const sim::Outcome& outcome, const std::string& title) {
  const Rank rows = std::min<Rank>(ranks.size(), 256);
  constexpr std::size_t columns = 200;
  const double row = std::clamp(512.0 / static_cast<double>(rows), 2.0, 8.0);
  const double bottom = top + row * static_cast<double>(rows);
  std::string svg;
  const Out out(svg);
  const Scale x = begin_picture(out, outcome, bottom, 34, title,
                                "Idle time: ranks that neither work nor have a message on the way, by rank and time.");
  const double width_s = outcome.time_s / static_cast<double>(columns);
  for (Rank i = 0; i < rows; ++i) {
    const Rank first = i * ranks.size() / rows;
    const Rank end = (i + 1) * ranks.size() / rows;
    const double y = top + row * static_cast<double>(i);
    if (i % 32 == 0)
      fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 8, y + 8, first);
    if (outcome.time_s <= 0) continue;
    const std::vector<double> shares = idle_shares(ranks, outcome, first, end, columns);
    const auto level = [&](std::size_t column) { return static_cast<int>(std::lround(shares[column] * shades)); };
    for (std::size_t column = 0; column < columns;) {
      std::size_t next = column + 1;
      while (next < columns && level(next) == level(column)) ++next;
      if (level(column) > 0) {
        const double from = x(static_cast<double>(column) * width_s);
        fmt::format_to(out,
                       "<rect class=\"idle\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
                       "fill=\"{}\"/>\n",
                       from, y, x(static_cast<double>(next) * width_s) - from, row, shade(level(column)));
      }
      column = next;
    }
  }
  double at = left;
  for (const auto& [level, says] :
       {std::pair{0, "busy"}, std::pair{shades / 2, "half idle"}, std::pair{shades, "idle"}}) {
    draw_legend_entry(out, at, bottom + 34, shade(level), says);
    at += 110;
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace

std::string picture_of(const sim::Ranks& ranks, const sim::Outcome& outcome, Count bytes, const std::string& title) {
  require(!outcome.first_step.empty(), "a picture needs an outcome with every step");
  if (ranks.size() <= most_lanes && outcome.played.size() <= most_drawn) return lanes(ranks, outcome, bytes, title);
  return heat_map(ranks, outcome, title);
}

}  // namespace circoll::cli
