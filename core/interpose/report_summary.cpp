// The last lines of the report say how much of the run's time went where, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "facts/text.hpp"
#include "interpose/report.hpp"

namespace circoll::interpose {
namespace {

/// Below this share of the run's time even collectives that took no time would not be noticed.
constexpr double negligible_share = 0.02;
/// Smaller shares are not told apart in one line.
constexpr double least_percent = 0.01;
/// The rows that are named.
constexpr std::size_t most_rows = 5;

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "- %";
}

/// A collective on communicators of one size, by whatever served it.
struct Group {
  CalledCollective collective{};
  Rank ranks = 0;
  Mode mode = Mode::blocking;
  std::int64_t calls = 0;
  std::int64_t native_calls = 0;
  double inside_s = 0;
  std::string served_by{};
  double most_s = -1;
};

}  // namespace

std::string Report::one_line() const {
  std::int64_t calls = 0;
  std::int64_t served = 0;
  std::map<std::string, std::int64_t> reasons;
  for (const auto& [key, row] : rows_) {
    const auto& [ranks, mode, collective, algorithm, reason] = key;
    calls += row.sum.calls;
    if (algorithm == "native") {
      reasons[reason] += row.sum.calls;
    } else {
      served += row.sum.calls;
    }
  }
  if (calls == 0) return "no collectives were called";
  std::string text = fmt::format("served {} of {} collective {}", served, calls, calls == 1 ? "call" : "calls");
  if (served == 0) {
    const auto most = std::max_element(reasons.begin(), reasons.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    text += fmt::format(", most often for the reason '{}'", most->first);
  }
  const double program_s = std::accumulate(facts_.program_s.begin(), facts_.program_s.end(), 0.0);
  if (program_s <= 0) return text;
  const double share = all_inside_s_ / program_s;
  return text + (share < least_percent ? std::string("; less than 1 %") : fmt::format("; {:.0f} %", 100 * share)) +
         " of the program's time in collectives";
}

std::vector<std::string> Report::summary() const {
  if (rows_.empty()) return {"no collectives were called: there is nothing to gain"};
  std::vector<Group> groups;
  std::int64_t calls = 0;
  std::int64_t native_calls = 0;
  bool pending = false, tunable = false;
  for (const auto& [key, row] : rows_) {
    const auto& [ranks, mode, collective, algorithm, reason] = key;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&, &c = collective, &p = ranks, &m = mode](const Group& g) {
          return g.collective == c && g.ranks == p && g.mode == m;
        });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), Group{.collective = collective, .ranks = ranks, .mode = mode});
    }
    group->calls += row.sum.calls;
    group->inside_s += row.sum.all_inside_s;
    if (row.sum.all_inside_s > group->most_s) {
      group->most_s = row.sum.all_inside_s;
      group->served_by = algorithm;
    }
    calls += row.sum.calls;
    if (algorithm == "native") {
      native_calls += row.sum.calls;
      group->native_calls += row.sum.calls;
    }
    pending |= mode != Mode::blocking;
    tunable |= !collective.neighbor;  // algorithms for neighbours have no parameters
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.inside_s > b.inside_s; });

  const double program_s = mean_of(std::accumulate(facts_.program_s.begin(), facts_.program_s.end(), 0.0));
  const double inside_s = mean_of(all_inside_s_);
  std::vector<std::string> lines;
  std::string first = "measured: " + readable_time(inside_s, "") + " in collectives";
  if (program_s > 0) {
    first += fmt::format(", {} of the {} of the program", percent(inside_s, program_s), readable_time(program_s, ""));
  }
  lines.push_back(first);
  lines.push_back(
      fmt::format("  means over the ranks; on the rank where it is most {}", readable_time(most_inside_s_, "")));
  for (std::size_t i = 0; i < std::min(groups.size(), most_rows); ++i) {
    const Group& group = groups[i];
    lines.push_back(fmt::format("  {} of them in {}{} on {} ranks, mostly {}", percent(group.inside_s, all_inside_s_),
                                group.mode == Mode::blocking ? "" : fmt::format("{} ", to_string(group.mode)),
                                to_string(group.collective), group.ranks == 0 ? "unknown" : std::to_string(group.ranks),
                                group.served_by));
  }
  if (groups.size() > most_rows) lines.push_back(fmt::format("  the rest in {} others", groups.size() - most_rows));
  if (pending) lines.emplace_back("  of calls that do not block it is the time to begin, without waiting");
  if (program_s > 0 && inside_s < negligible_share * program_s && !pending) {
    lines.emplace_back("next: nothing; faster collectives would not be noticed here");
  } else if (native_calls == calls) {
    lines.emplace_back("next: all calls were native. circoll compare -- PROGRAM compares");
  } else {
    lines.emplace_back("next: has it helped? circoll compare -- PROGRAM");
    if (tunable) lines.emplace_back("  to tune these calls: circoll tune --for REPORT.json -- PROGRAM");
  }
  return lines;
}

}  // namespace circoll::interpose
