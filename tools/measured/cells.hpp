// Cells of measured times and of rules.
//
// Here are the fastest algorithm in a cell, the choices that rules can make, and the sizes where they meet.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measured/tuning.hpp"

namespace circoll::measured {

/// One algorithm in one cell, by the median of its launches.
struct Timed {
  Collective collective = Collective::barrier;
  Rank p = 1;
  Count bytes = 0;  ///< of the whole vector
  std::string algorithm{};
  double median_s = 0;
  int launches = 0;
  double least_speedup = 0;  ///< over native, in the launch that was worst for it; 0: unknown
  bool wrong = false;
};

struct TimedCell {
  Collective collective = Collective::barrier;
  Rank p = 1;
  Count bytes = 0;  ///< 0 where sizes cannot decide
  std::vector<Timed> candidates{};
};

/// Cells by collective, p and bytes. Left out are measurements that were wrong somewhere, come from fewer launches than
/// others of their cell, or have an operator or algorithm that no rule can state. With a library (TuneOptions) those
/// inside it are candidates, and native; else no algorithm inside a library is. Where sizes cannot decide there is one
/// cell per collective and p, and times are geometric means over the sizes. Algorithms that were not measured at all of
/// these sizes are left out.
[[nodiscard]] std::vector<TimedCell> timed_cells(const std::vector<Timed>& times, const RuleOperator& measured,
                                                 std::string_view library = {});

/// Throws Error(invalid_argument) if a library is asked for, and none of its algorithms is among the times.
void require_library(const std::vector<Timed>& times, std::string_view library);

/// nullptr where there is none. Lives as long as the cell.
struct BestAndNative {
  const Timed* best = nullptr;
  const Timed* native = nullptr;
};
[[nodiscard]] BestAndNative best_and_native(const TimedCell& cell);

/// The fastest candidate as TuneOptions say. Nothing if there is no candidate.
[[nodiscard]] std::optional<RuleCell> fastest(TimedCell cell, const TuneOptions& options);

/// The widest "op" of a rule for p ranks that holds the measured operator and that a choice can serve. It is empty for
/// a collective without operator, and nothing if there is none, so that no rule can make this choice.
[[nodiscard]] std::optional<std::string> op_of_rule(Collective collective, Rank p, const std::string& use,
                                                    const RuleOperator& measured);

/// The size at which rules of two measured sizes meet: the geometric mean, and never outside of (low, high].
[[nodiscard]] inline Count cut_between(Count low, Count high) {
  const double mean = std::sqrt(static_cast<double>(low)) * std::sqrt(static_cast<double>(high));
  return std::clamp(static_cast<Count>(std::llround(std::min(mean, 9e18))), low + 1, high);
}

/// The cells by collective, p and bytes. Throws Error(invalid_argument) if there are two choices for the same calls.
[[nodiscard]] std::vector<const RuleCell*> sorted_cells(std::span<const RuleCell> cells);

}  // namespace circoll::measured
