// Two kinds of runs of one program, compared by what their reports have measured.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
/// Of the time in collectives: nobody needs to see, or to set a variable for, less.
constexpr double least_loss = 0.01;
/// The chance that any row is called faster or slower without being so.
constexpr double rows_may_err = 0.01;
/// Of the processors: others that take less need no word.
constexpr double noticeable_load = 0.1;
/// Nobody waits longer for a verdict.
constexpr double most_more_s = 3600;

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

RunPair timed_pair(const ProgramReport& without, const ProgramReport& with, double without_s, double with_s) {
  return {.without_s = without_s,
          .with_s = with_s,
          .others_without = without.others.value_or(1),
          .others_with = with.others.value_or(1)};
}

std::vector<RunPair> pairs_of(const Runs& without, const Runs& with,
                              const std::function<double(const ProgramReport&)>& seconds_of) {
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i < std::min(without.size(), with.size()); ++i) {
    pairs.push_back(timed_pair(without[i], with[i], seconds_of(without[i]), seconds_of(with[i])));
  }
  return pairs;
}

using CallKind = std::tuple<CalledCollective, Rank, std::string>;

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
  /// The time in run number i; nothing if it has no such calls.
  [[nodiscard]] std::optional<double> seconds(const CallKind& kind, std::size_t i) const {
    const auto found = runs[i].find(kind);
    return found == runs[i].end() ? std::nullopt : std::optional(found->second.seconds);
  }
  /// The times of the runs that have them.
  [[nodiscard]] RunTimes times(const CallKind& kind) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (const auto one = seconds(kind, i)) found.push_back(*one);
    }
    return times_of(std::move(found));
  }
};

/// The kinds of calls, and in `rows` the pairs of each.
std::vector<ComparedCalls> compare_calls(const Runs& without, const Runs& with,
                                         std::vector<std::vector<RunPair>>& rows) {
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
    compared.push_back(std::move(one));
  }
  std::ranges::stable_sort(compared, [](const ComparedCalls& a, const ComparedCalls& b) {
    return std::max(a.without.median_s, a.with.median_s) > std::max(b.without.median_s, b.with.median_s);
  });
  for (const ComparedCalls& one : compared) {
    const CallKind kind{one.collective, one.comm_size, one.mode};
    std::vector<RunPair>& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(without.size(), with.size()); ++i) {
      const auto first = before.seconds(kind, i), second = after.seconds(kind, i);
      if (first && second) row.push_back(timed_pair(without[i], with[i], *first, *second));
    }
  }
  return compared;
}

/// The collective that loses most by blocking calls that are slower for sure, and the time that it loses.
std::optional<std::pair<CalledCollective, double>> loser(const RunComparison& all) {
  std::map<CalledCollective, double> lost;
  std::map<CalledCollective, bool> sure;
  for (const ComparedCalls& one : all.calls) {
    if (one.mode != "blocking" || one.verdict.change == Change::missing) continue;
    lost[one.collective] -= one.gained_s();
    sure[one.collective] |= one.verdict.change == Change::slower && one.native_calls < one.calls_with;
  }
  std::optional<std::pair<CalledCollective, double>> worst;
  for (const auto& [collective, seconds] : lost) {
    if (!sure[collective] || seconds < least_loss * all.collectives_with.median_s) continue;
    if (!worst || seconds > worst->second) worst = {collective, seconds};
  }
  return worst;
}

std::int64_t served_calls(const Runs& runs) {
  std::int64_t served = 0;
  for (const ProgramReport& run : runs) served += run.calls - run.native_calls;
  return served;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Says whether others kept the machine busy.
void add_load(RunComparison& all, const Runs& without, const Runs& with) {
  std::vector<double> others, pressure;
  for (const Runs* const runs : {&without, &with}) {
    for (const ProgramReport& run : *runs) {
      if (run.others) others.push_back(*run.others);
      if (run.pressure) pressure.push_back(*run.pressure);
    }
  }
  const double usual = median(others);
  if (others.empty() || usual < noticeable_load) return;
  all.remarks.push_back(fmt::format(
      "other processes took {} of the processors{}; on a quiet machine the ratio may be another", percent(usual),
      pressure.empty() ? "" : ", and in " + percent(median(pressure)) + " of the time a process had to wait for one"));
}

void add_remarks(RunComparison& all, const Runs& without, const Runs& with) {
  add_load(all, without, with);
  if (all.verdict().disturbed > 0) {
    all.remarks.push_back(
        fmt::format("left out were {} of {} pairs, because others took more of the processors in one of the two runs",
                    all.verdict().disturbed, all.verdict().disturbed + all.verdict().pairs));
  }
  if (without.size() == 1 || with.size() == 1) {
    all.remarks.emplace_back("one run of a kind does not show what is chance; circoll compare --np N -- PROGRAM does");
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

std::string tune(const ProgramReport& with) { return fmt::format("circoll tune --for {} -- PROGRAM", with.source); }

/// The one advice, by facts that are decided.
std::string advice_of(const RunComparison& all, const ProgramReport& with, const RunsMade& made) {
  const Judgement& verdict = all.verdict();
  if (verdict.change == Change::undecided) {
    if (made.limit_s == 0) return "more pairs of runs: circoll compare --np N -- PROGRAM goes on until it is decided";
    const double more_s = made.pair_s * verdict.more_pairs;
    if (more_s > most_more_s) return "compare again when the machine is quieter; here it would take more than an hour";
    return fmt::format("about {} more pairs, {}, may decide: --limit {:.0f}", verdict.more_pairs, readable_time(more_s),
                       std::ceil((made.limit_s + 1.5 * more_s) / 10) * 10);
  }
  const auto shares = {all.share_without(), all.share_with()};
  const bool negligible = std::ranges::all_of(
      shares, [](const std::optional<double>& share) { return share && *share < negligible_share; });
  if (negligible && verdict.change == Change::same) {
    return fmt::format("nothing: collectives take less than {:g} % of the time, so nobody notices their algorithms",
                       100 * negligible_share);
  }
  // A collective's loss is worth a variable, unless it explains little of what the program loses.
  const double program_lost_s = all.program_with.median_s - all.program_without.median_s;
  const auto lost = loser(all);
  if (lost && (verdict.change != Change::slower || lost->second >= program_lost_s / 2)) {
    const CalledCollective& called = lost->first;
    return fmt::format("set {}=native, because with Circoll {} took {} more",
                       called.neighbor ? "CIRCOLL_NEIGHBOR" : algorithm_variable(called.collective), to_string(called),
                       readable_time(lost->second));
  }
  // Collectives among neighbours have one algorithm, without parameters.
  const bool tunable = std::ranges::any_of(with.rows, [](const ReportedRow& row) { return !row.collective.neighbor; });
  switch (verdict.change) {
    case Change::faster:
      return "start it with Circoll: mpirun -np N circoll run -- PROGRAM";
    case Change::slower:
      return "leave the program with the MPI library's own" + (tunable ? ", or tune its calls: " + tune(with) : "");
    default:
      return tunable ? "tune the calls that this program makes: " + tune(with)
                     : "nothing: collectives among neighbours have one algorithm";
  }
}

}  // namespace

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

bool RunComparison::is_small(const ComparedCalls& one) const {
  return std::max(one.without.median_s, one.with.median_s) <
         least_loss * std::max(collectives_without.median_s, collectives_with.median_s);
}

RunPair pair_of(const ProgramReport& without, const ProgramReport& with) {
  const bool timed = without.program_s && with.program_s;
  return timed ? timed_pair(without, with, *without.program_s, *with.program_s)
               : timed_pair(without, with, without.collectives_s(), with.collectives_s());
}

RunComparison compare_runs(const Runs& without, const Runs& with, double same_within, const RunsMade& made) {
  require(!without.empty() && !with.empty(), "a comparison takes a run without Circoll and one with it");
  require(same_within >= 0, "the least effect must not be negative");
  for (const Runs* const runs : {&without, &with}) {
    for (const ProgramReport& run : *runs) {
      if (run.ranks == without.front().ranks) continue;
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is of {} ranks, and {} of {}: runs of one program on as many ranks are compared",
                              without.front().source, without.front().ranks, run.source, run.ranks));
    }
  }
  RunComparison all;
  all.waiting = made.waiting;
  all.program_without = program_times(without);
  all.program_with = program_times(with);
  const auto in_collectives = [](const ProgramReport& run) { return run.collectives_s(); };
  all.collectives_without = times_of(without, in_collectives);
  all.collectives_with = times_of(with, in_collectives);
  std::vector<std::vector<RunPair>> rows{pairs_of(without, with, in_collectives)};
  all.calls = compare_calls(without, with, rows);
  const std::vector<Judgement> verdicts = judge_rows(rows, {.may_err = rows_may_err, .same_within = same_within});
  all.collectives = verdicts.front();
  for (std::size_t i = 0; i < all.calls.size(); ++i) {
    all.calls[i].verdict = verdicts[i + 1];
    if (rows[i + 1].empty()) all.calls[i].verdict.change = Change::missing;
  }
  if (all.program_without.runs > 0 && all.program_with.runs > 0) {
    all.pairs = pairs_of(without, with, [](const ProgramReport& run) { return *run.program_s; });
    all.program = made.verdict.value_or(judge(all.pairs, {.same_within = same_within}));
  } else {
    all.pairs = rows.front();
    all.program.change = Change::missing;
  }
  add_remarks(all, without, with);
  all.advice = advice_of(all, with.front(), made);
  return all;
}

}  // namespace circoll
