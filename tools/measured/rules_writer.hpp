// The choices that rules can make; measured/tuning.hpp has the function that writes rules.
#pragma once

#include <optional>
#include <string>

#include "measured/tuning.hpp"

namespace circoll::measured {

/// The widest "op" of a rule for p ranks that holds the measured operator and that a choice can serve. It is empty for
/// a collective without operator, and nothing if there is none, so that no rule can make this choice.
[[nodiscard]] std::optional<std::string> op_of_rule(Collective collective, Rank p, const std::string& use,
                                                    const RuleOperator& measured);

}  // namespace circoll::measured
