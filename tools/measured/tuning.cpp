// The fastest of the measured algorithms in each cell.
#include "measured/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "facts/text.hpp"
#include "measured/cells.hpp"
#include "schedule/registry.hpp"

namespace circoll {

namespace measured {
namespace {

bool usable(const Timed& time, const RuleOperator& measured, std::string_view library) {
  if (time.algorithm == "native") return true;
  if (library_of(time.algorithm) != library) return false;
  if (time.algorithm == "auto" || !library.empty()) return true;
  if (time.algorithm.starts_with(file_prefix)) return false;  // no rule may name one
  const Selection selection = parse_selection(time.collective, time.algorithm);
  // No policy may do this (docs/admin/rules.md), although a call that names the algorithm may.
  if (traits_of(time.collective).sizes == SizesKnown::to_pairs && !selection.algorithm->guarantees.direct) return false;
  return op_of_rule(time.collective, time.p, time.algorithm, measured).has_value();
}

void keep_candidates(std::vector<Timed>& times, const RuleOperator& measured, std::string_view library) {
  std::erase_if(times, [&](const Timed& time) { return !usable(time, measured, library); });
  int most = 0;
  for (const Timed& time : times) most = std::max(most, time.launches);
  std::erase_if(times, [&](const Timed& time) { return time.wrong || time.launches < most || !(time.median_s > 0); });
}

/// Cells of one collective and p as one.
TimedCell over_sizes(const std::vector<TimedCell>& cells) {
  TimedCell all{.collective = cells.front().collective, .p = cells.front().p};
  for (const Timed& first : cells.front().candidates) {
    Timed mean = first;
    double logarithms = 0, least_logarithms = 0;
    std::size_t measured = 0;
    for (const TimedCell& cell : cells) {
      for (const Timed& time : cell.candidates) {
        if (time.algorithm != first.algorithm) continue;
        logarithms += std::log(time.median_s);
        least_logarithms += std::log(time.least_speedup);
        ++measured;
      }
    }
    if (measured != cells.size()) continue;
    mean.median_s = std::exp(logarithms / static_cast<double>(measured));
    mean.least_speedup = std::exp(least_logarithms / static_cast<double>(measured));
    all.candidates.push_back(std::move(mean));
  }
  return all;
}

}  // namespace

std::vector<TimedCell> timed_cells(const std::vector<Timed>& times, const RuleOperator& measured,
                                   std::string_view library) {
  std::map<std::tuple<Collective, Rank, Count>, std::vector<Timed>> by_cell;
  for (const Timed& time : times) by_cell[{time.collective, time.p, time.bytes}].push_back(time);
  std::vector<TimedCell> cells;
  std::map<std::tuple<Collective, Rank>, std::vector<TimedCell>> unsized;
  for (auto& [key, candidates] : by_cell) {
    const auto& [collective, p, bytes] = key;
    keep_candidates(candidates, measured, library);
    TimedCell cell{.collective = collective, .p = p, .bytes = bytes, .candidates = std::move(candidates)};
    if (!size_decides(collective)) {
      unsized[{collective, p}].push_back(std::move(cell));
    } else {
      cells.push_back(std::move(cell));
    }
  }
  for (const auto& [key, of_sizes] : unsized) cells.push_back(over_sizes(of_sizes));
  return cells;
}

void require_library(const std::vector<Timed>& times, std::string_view library) {
  if (library.empty()) return;
  if (std::ranges::any_of(times, [&](const Timed& time) { return library_of(time.algorithm) == library; })) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("none of these files has times of algorithms inside {}: circoll-bench --native-algorithms "
                          "measures them, started under that library",
                          library));
}

BestAndNative best_and_native(const TimedCell& cell) {
  BestAndNative found;
  for (const Timed& time : cell.candidates) {
    if (found.best == nullptr || time.median_s < found.best->median_s) found.best = &time;
    if (time.algorithm == "native") found.native = &time;
  }
  return found;
}

std::optional<RuleCell> fastest(TimedCell cell, const TuneOptions& options) {
  if (options.in_every_launch && best_and_native(cell).native != nullptr) {
    std::erase_if(cell.candidates,
                  [](const Timed& time) { return time.algorithm != "native" && !(time.least_speedup > 1); });
  }
  auto [best, native] = best_and_native(cell);
  if (best == nullptr) return std::nullopt;
  const auto micro = [](const Timed& time) { return fmt::format("{} {:.2f} us", time.algorithm, time.median_s * 1e6); };
  std::string about = !size_decides(cell.collective) ? "" : fmt::format("{} bytes: ", cell.bytes);
  about += micro(*best);
  if (native != nullptr && best != native) about += ", " + micro(*native);
  if (native != nullptr && native->median_s <= best->median_s * (1 + options.margin)) best = native;
  return RuleCell{.collective = cell.collective,
                  .p = cell.p,
                  .bytes = cell.bytes,
                  .use = best->algorithm,
                  .about = std::move(about)};
}

}  // namespace measured

std::string_view library_of(std::string_view algorithm) {
  const std::size_t slash = algorithm.find('/');
  return slash == std::string_view::npos ? std::string_view{} : algorithm.substr(0, slash);
}

RuleOperator measured_operator(const Launch& launch) {
  try {
    return {.op = parse_op(launch.op), .type = parse_type(launch.type)};
  } catch (const Error& error) {
    throw Error(error.code(), launch.source + ": " + error.what());
  }
}

std::vector<RuleCell> tune(const std::vector<Launch>& launches, const TuneOptions& options) {
  require(options.margin >= 0, "the margin must not be negative");
  std::vector<const Launch*> all;
  all.reserve(launches.size());
  for (const Launch& launch : launches) all.push_back(&launch);
  require_comparable(all);
  const RuleOperator measured = measured_operator(launches.front());
  std::vector<measured::Timed> times;
  // Launches of other numbers of ranks may have started together in another way.
  std::map<std::string, std::vector<Launch>> by_setting;
  for (const Launch& launch : launches) by_setting[launch.setting].push_back(launch);
  for (const auto& [setting, group] : by_setting) {
    for (const Combined& cell : combine(group)) {
      const Measurement& row = cell.row;
      // In rules "auto" is the model's choice; this was another's.
      if (row.algorithm == "auto" && !group.front().default_policy) continue;
      times.push_back({.collective = row.collective,
                       .p = row.p,
                       .bytes = Amounts::of_measured(row.collective, row.p, row.bytes).vector_bytes(),
                       .algorithm = row.algorithm,
                       .median_s = row.median_s,
                       .launches = cell.launches,
                       .least_speedup = cell.least_speedup,
                       .wrong = row.wrong});
    }
  }
  measured::require_library(times, options.library);
  std::vector<RuleCell> cells;
  for (const measured::TimedCell& cell : measured::timed_cells(times, measured, options.library)) {
    if (auto chosen = measured::fastest(cell, options)) cells.push_back(*std::move(chosen));
  }
  return cells;
}

}  // namespace circoll
