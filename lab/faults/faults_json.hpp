// JSON of the analysis of failures, for `circoll faults` and the explorer's engine.
#pragma once

#include <nlohmann/json.hpp>

#include "faults/faults.hpp"
#include "repair/failures.hpp"

namespace circoll {

/// {"class", "pieces", "copies", "lost", "contributed", "needed"}. Pieces and copies are null where there are none.
[[nodiscard]] nlohmann::ordered_json as_json(const FailureOutcome& outcome);
/// {"pieces", "missing", the cost, "same_bits", "rank_order"}, or {"why_not"} if the goal is none.
[[nodiscard]] nlohmann::ordered_json as_json(const Repair& repair);

}  // namespace circoll
