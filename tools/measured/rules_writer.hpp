// The choices that rules can make, and where they meet; measured/tuning.hpp has the function that writes rules.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measured/tuning.hpp"

namespace circoll::measured {

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
