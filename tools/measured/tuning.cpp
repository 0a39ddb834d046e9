#include "measured/tuning.hpp"

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "facts/text.hpp"
#include "measured/fastest.hpp"

namespace circoll {
namespace {

/// Launches by their settings: those of other numbers of ranks may have started together in another way.
std::vector<std::vector<Launch>> by_setting(const std::vector<Launch>& launches) {
  std::vector<std::vector<Launch>> groups;
  for (const Launch& launch : launches) {
    std::vector<Launch>* found = nullptr;
    for (std::vector<Launch>& group : groups) {
      if (group.front().setting == launch.setting) found = &group;
    }
    if (found == nullptr) found = &groups.emplace_back();
    found->push_back(launch);
  }
  return groups;
}

}  // namespace

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
  for (const std::vector<Launch>& group : by_setting(launches)) {
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
