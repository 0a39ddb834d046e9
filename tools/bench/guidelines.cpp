#include "guidelines.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/median.hpp"
#include "guideline_calls.hpp"
#include "table.hpp"

namespace circoll::bench {
namespace {

/// A side, and what else may serve its collective.
struct Wanted {
  GuidelineSide side{};
  std::vector<std::string> counterparts{};  ///< names of algorithms
  bool left = false;                        ///< the left-hand side of a guideline
};

/// Every side of the guidelines about these collectives, once.
std::vector<Wanted> wanted(const std::vector<Collective>& collectives) {
  std::vector<Wanted> list;
  const auto want = [&](const GuidelineSide& side) -> Wanted& {
    for (Wanted& known : list) {
      if (to_string(known.side) == to_string(side)) return known;
    }
    return list.emplace_back(Wanted{.side = side});
  };
  for (const Guideline& guideline : guidelines()) {
    const auto about = guideline.left.calls.front().collective;
    if (std::find(collectives.begin(), collectives.end(), about) == collectives.end()) continue;
    Wanted& left = want(guideline.left);
    left.left = true;
    if (!guideline.counterpart.empty()) left.counterparts.emplace_back(guideline.counterpart);
    (void)want(guideline.right);
  }
  return list;
}

/// The algorithms that serve all calls of a side. Those inside the MPI library stand for better left-hand sides only.
std::vector<std::string> algorithms_of_side(const Options& options, const Wanted& what, int size, Count bytes) {
  Options own = options;
  own.algorithms.insert(own.algorithms.end(), what.counterparts.begin(), what.counterparts.end());
  std::vector<std::string> names = algorithms_for(own, what.side.calls.front().collective, size);
  for (const GuidelineCall& call : what.side.calls) {
    const std::vector<std::string> others = algorithms_for(own, call.collective, size);
    std::erase_if(
        names, [&](const std::string& name) { return std::find(others.begin(), others.end(), name) == others.end(); });
  }
  const GuidelineCall& first = what.side.calls.front();
  if (what.left && what.side.calls.size() == 1 && first.part == Part::whole) {
    for (std::string& name : library_algorithms_for(options, first.collective, size, bytes)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// Wrong results of the library's own algorithms do not count as fast. It would not take them for such a call.
bool is_right(const Options& options, const Wanted& what, const GuidelineMemory& memory, const std::string& name) {
  const Collective collective = what.side.calls.front().collective;
  return gives_native_result(options, collective,
                             Amounts::of_vector(collective, memory.size, memory.bytes).measured_bytes(), name);
}

}  // namespace

GuidelineCell measure_guidelines(const Options& options, StartLine& line, Count bytes) {
  GuidelineMemory memory(options, bytes);
  GuidelineCell cell{.bytes = memory.bytes};
  std::vector<GuidelineCalls> calls;
  for (const Wanted& what : wanted(options.collectives)) {
    for (const std::string& name : algorithms_of_side(options, what, memory.size, memory.bytes)) {
      GuidelineCalls made(options, memory, what.side, name);
      Series series{.algorithm = name};
      if (!first_call(series, [&] { return made.served(); })) continue;  // warms up, too
      if (native::names_library(name) && !is_right(options, what, memory, name)) continue;
      calls.push_back(std::move(made));
      cell.sides.push_back(to_string(what.side));
      cell.series.push_back(std::move(series));
    }
  }
  std::vector<Run> runs;
  runs.reserve(calls.size());
  for (const GuidelineCalls& call : calls) {
    Run& timed = runs.emplace_back(Run{.call = [&call] { call.run(); }});
    if (!call.runner().is_forced()) continue;
    timed.arm = [&call] { call.runner().arm(); };
    timed.disarm = [&call] { call.runner().disarm(); };
  }
  take_turns(options, line, options.seed + static_cast<std::uint64_t>(cell.bytes), runs, cell.series);
  return cell;
}

std::vector<Cell> cells_of(const GuidelineCell& cell, int size) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < cell.series.size(); ++i) {
    const auto collective = collective_from_string(cell.sides[i]);
    if (!collective) continue;
    if (cells.empty() || cells.back().collective != *collective) {
      cells.push_back({.collective = *collective,
                       .bytes = Amounts::of_vector(*collective, size, cell.bytes).measured_bytes(),
                       .series = {}});
    }
    cells.back().series.push_back(cell.series[i]);
  }
  return cells;
}

std::string guideline_header(const StartLine& line) {
  return fmt::format(
      "# ranks start together by {}; bytes of the whole vector\n{:<44} {:<20} {:>5} {:>11} {:>6} {:>12}  {}\n",
      to_string(line.sync()), "# side", "algorithm", "p", "bytes", "reps", "median_us", "served by");
}

std::string guideline_rows(const GuidelineCell& cell, int size) {
  std::string text;
  for (std::size_t i = 0; i < cell.series.size(); ++i) {
    const Series& series = cell.series[i];
    if (series.seconds.empty()) {
      text += fmt::format("{:<44} {:<20} {:>5} {:>11} {}\n", cell.sides[i], series.algorithm, size, cell.bytes,
                          nothing_measured(series));
      continue;
    }
    text += fmt::format("{:<44} {:<20} {:>5} {:>11} {:>6} {:>12.2f}  {}\n", cell.sides[i], series.algorithm, size,
                        cell.bytes, series.seconds.size(), median(series.seconds) * 1e6, series.served_by);
  }
  return text;
}

}  // namespace circoll::bench
