// The critical path of a collective, counted from the schedules of all ranks.
#pragma once

#include <span>

#include "circoll/algorithm.hpp"

namespace circoll::verify {

/// Counts rounds, messages and combinations. Local steps after the last round count as one more round.
/// O(steps + rounds).
[[nodiscard]] CriticalPath count_path(std::span<const Schedule> ranks);

}  // namespace circoll::verify
