// Two kinds of runs of one program, compared by what their reports have measured.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "facts/text.hpp"
#include "measured/program_report.hpp"

namespace circoll {
namespace {

using Runs = std::vector<ProgramReport>;

/// Of the run's time. Nobody notices less.
constexpr double negligible_share = 0.02;
/// Of the time in collectives: nobody needs to set a variable for less.
constexpr double least_loss = 0.01;

RunTimes times_of(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  std::ranges::sort(seconds);
  return {.median_s = median_of_sorted(seconds),
          .least_s = seconds.front(),
          .most_s = seconds.back(),
          .runs = static_cast<int>(seconds.size())};
}

RunTimes times_of(const Runs& runs, const std::function<double(const ProgramReport&)>& seconds_of) {
  std::vector<double> seconds;
  seconds.reserve(runs.size());
  for (const ProgramReport& run : runs) seconds.push_back(seconds_of(run));
  return times_of(std::move(seconds));
}

/// No runs, unless all of them know their time.
RunTimes program_times(const Runs& runs) {
  if (std::ranges::any_of(runs, [](const ProgramReport& run) { return !run.program_s; })) return {};
  return times_of(runs, [](const ProgramReport& run) { return *run.program_s; });
}

Change change_of(const RunTimes& without, const RunTimes& with, double least_effect) {
  if (without.runs == 0 || with.runs == 0) return Change::missing;
  if (with.most_s < without.least_s && with.median_s * (1 + least_effect) < without.median_s) return Change::faster;
  if (without.most_s < with.least_s && without.median_s * (1 + least_effect) < with.median_s) return Change::slower;
  return Change::same;
}

using CallKind = std::tuple<Collective, Rank, std::string>;

struct Calls {
  std::int64_t calls = 0;
  std::int64_t native_calls = 0;
  double seconds = 0;
};

std::map<CallKind, Calls> calls_of(const ProgramReport& run) {
  std::map<CallKind, Calls> kinds;
  for (const ReportedRow& row : run.rows) {
    Calls& calls = kinds[{row.collective, row.comm_size, row.mode}];
    calls.calls += row.calls;
    calls.seconds += row.mean_inside_s;
    if (row.native()) calls.native_calls += row.calls;
  }
  return kinds;
}

struct Kinds {
  std::vector<std::map<CallKind, Calls>> runs;

  explicit Kinds(const Runs& all) {
    runs.reserve(all.size());
    for (const ProgramReport& run : all) runs.push_back(calls_of(run));
  }
  /// The calls of the first run that has them, or none.
  [[nodiscard]] Calls first(const CallKind& kind) const {
    for (const auto& run : runs) {
      if (const auto found = run.find(kind); found != run.end()) return found->second;
    }
    return {};
  }
  /// The times of the runs that have them.
  [[nodiscard]] RunTimes times(const CallKind& kind) const {
    std::vector<double> seconds;
    for (const auto& run : runs) {
      if (const auto found = run.find(kind); found != run.end()) seconds.push_back(found->second.seconds);
    }
    return times_of(std::move(seconds));
  }
};

std::vector<ComparedCalls> compare_calls(const Runs& without, const Runs& with, double least_effect) {
  const Kinds before(without);
  const Kinds after(with);
  std::map<CallKind, bool> all;
  for (const Kinds* const kinds : {&before, &after}) {
    for (const auto& run : kinds->runs) {
      for (const auto& [kind, calls] : run) all[kind] = true;
    }
  }
  std::vector<ComparedCalls> compared;
  for (const auto& [kind, seen] : all) {
    const auto& [collective, comm_size, mode] = kind;
    const Calls with_calls = after.first(kind);
    ComparedCalls one{.collective = collective,
                      .comm_size = comm_size,
                      .mode = mode,
                      .calls = before.first(kind).calls,
                      .calls_with = with_calls.calls,
                      .native_calls = with_calls.native_calls,
                      .without = before.times(kind),
                      .with = after.times(kind)};
    one.change = change_of(one.without, one.with, least_effect);
    compared.push_back(std::move(one));
  }
  std::ranges::stable_sort(compared, [](const ComparedCalls& a, const ComparedCalls& b) {
    return std::max(a.without.median_s, a.with.median_s) > std::max(b.without.median_s, b.with.median_s);
  });
  return compared;
}

/// Collectives whose blocking calls are slower with Circoll, all communicators together, and by how much.
std::vector<std::pair<Collective, double>> slower_collectives(const std::vector<ComparedCalls>& calls,
                                                              double least_effect) {
  struct Total {
    double without = 0, with = 0;
    bool slower = false;
  };
  std::map<Collective, Total> totals;
  for (const ComparedCalls& one : calls) {
    if (one.mode != "blocking" || one.change == Change::missing) continue;
    Total& total = totals[one.collective];
    total.without += one.without.median_s;
    total.with += one.with.median_s;
    total.slower |= one.change == Change::slower && one.native_calls < one.calls_with;
  }
  std::vector<std::pair<Collective, double>> slower;
  for (const auto& [collective, total] : totals) {
    if (total.slower && total.with > total.without * (1 + least_effect)) {
      slower.emplace_back(collective, total.with - total.without);
    }
  }
  std::ranges::stable_sort(slower, [](const auto& a, const auto& b) { return a.second > b.second; });
  return slower;
}

std::int64_t served_calls(const Runs& runs) {
  std::int64_t served = 0;
  for (const ProgramReport& run : runs) served += run.calls - run.native_calls;
  return served;
}

void add_remarks(RunComparison& all, const Runs& without, const Runs& with) {
  if (without.size() == 1 || with.size() == 1) {
    all.remarks.emplace_back(
        "one run of a kind does not show what is chance; circoll compare --runs 5 -- ... takes several in turns");
  }
  if (served_calls(without) > 0) {
    all.remarks.push_back(fmt::format("{} was not native: Circoll served {} of its calls", without.front().source,
                                      without.front().calls - without.front().native_calls));
  }
  if (served_calls(with) == 0) {
    all.remarks.push_back(fmt::format("in {} no call was served by Circoll", with.front().source));
  }
  const bool pending = std::ranges::any_of(all.calls, [](const ComparedCalls& one) { return one.mode != "blocking"; });
  if (pending) {
    all.remarks.emplace_back(
        "of calls that do not block it is the time to begin them; what they save or cost later is in the program's");
  }
  const bool differ = std::ranges::any_of(
      all.calls, [](const ComparedCalls& one) { return one.mode == "blocking" && one.calls != one.calls_with; });
  if (differ) all.remarks.emplace_back("the runs made different numbers of calls: they did not do the same work");
  if (all.program_without.runs == 0 || all.program_with.runs == 0) {
    all.remarks.emplace_back("a report of an older version does not say how long the program ran");
  }
}

void add_advice(RunComparison& all, const std::string& report, double least_effect) {
  const auto shares = {all.share_without(), all.share_with()};
  const bool negligible = std::ranges::all_of(
      shares, [](const std::optional<double>& share) { return share && *share < negligible_share; });
  if (negligible && all.program == Change::same) {
    all.advice.push_back(fmt::format(
        "Nothing: collectives take less than {:g} % of the program's time, and no choice of theirs would be noticed.",
        100 * negligible_share));
    return;
  }
  for (const auto& [collective, lost_s] : slower_collectives(all.calls, least_effect)) {
    if (lost_s < least_loss * all.collectives_with.median_s) continue;
    all.advice.push_back(fmt::format("Set {}=native: with Circoll {} took {:.3g} s more.",
                                     algorithm_variable(collective), to_string(collective), lost_s));
  }
  if (all.share_with().value_or(1) >= negligible_share) {
    all.advice.push_back(
        fmt::format("Tune the calls that this program makes: circoll tune --for {} -o rules.json", report));
  }
  if (all.collectives == Change::same && all.advice.size() <= 1) {
    all.advice.emplace_back("If tuning does not help, either, leave the program with the MPI library's own.");
  }
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::faster:
      return "faster";
    case Change::slower:
      return "slower";
    case Change::same:
      return "same";
    case Change::missing:
      break;
  }
  return "-";
}

std::optional<double> ComparedCalls::speedup() const {
  if (without.median_s <= 0 || with.median_s <= 0) return std::nullopt;
  return without.median_s / with.median_s;
}

namespace {
std::optional<double> share(const RunTimes& part, const RunTimes& whole) {
  if (whole.runs == 0 || whole.median_s <= 0) return std::nullopt;
  return part.median_s / whole.median_s;
}
}  // namespace

std::optional<double> RunComparison::share_without() const { return share(collectives_without, program_without); }
std::optional<double> RunComparison::share_with() const { return share(collectives_with, program_with); }

RunComparison compare_runs(const Runs& without, const Runs& with, double least_effect) {
  require(!without.empty() && !with.empty(), "a comparison takes a run without Circoll and one with it");
  require(least_effect >= 0, "the least effect must not be negative");
  for (const Runs* const runs : {&without, &with}) {
    for (const ProgramReport& run : *runs) {
      if (run.ranks == without.front().ranks) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is of {} ranks, and {} of {}: runs of one program on as many ranks are compared",
                              without.front().source, without.front().ranks, run.source, run.ranks));
    }
  }
  RunComparison all;
  all.program_without = program_times(without);
  all.program_with = program_times(with);
  const auto in_collectives = [](const ProgramReport& run) { return run.collectives_s(); };
  all.collectives_without = times_of(without, in_collectives);
  all.collectives_with = times_of(with, in_collectives);
  all.program = change_of(all.program_without, all.program_with, least_effect);
  all.collectives = change_of(all.collectives_without, all.collectives_with, least_effect);
  all.calls = compare_calls(without, with, least_effect);
  add_remarks(all, without, with);
  add_advice(all, with.front().source, least_effect);
  return all;
}

}  // namespace circoll
