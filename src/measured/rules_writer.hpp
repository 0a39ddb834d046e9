// What rules can say, besides writing them (circoll/measured/tuning.hpp).
#pragma once

#include <optional>
#include <string>

#include "circoll/measured/tuning.hpp"

namespace circoll::measured {

/// The widest "op" of a rule for p ranks that holds the measured operator and that a choice can serve, empty for a collective
/// without operator; nothing if there is none, so that no rule can make this choice.
[[nodiscard]] std::optional<std::string> op_of_rule(Collective collective, Rank p, const std::string& use,
                                                    const RuleOperator& measured);

}  // namespace circoll::measured
