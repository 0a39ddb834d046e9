// The plan of a repair: the pieces of every result, schedules that put them together, and their proof.
#pragma once

#include <span>

#include "circoll/faults.hpp"
#include "faults/goals.hpp"
#include "faults/stage.hpp"

namespace circoll::faults {

/// A proven repair of what the survivors hold at this point. Throws Error(internal) if its own schedules are wrong.
[[nodiscard]] Repair plan_repair(const Program& program, const Stage& stage, std::uint64_t failed,
                                 std::span<const Goal> goals, const FailureBounds& bounds);

}  // namespace circoll::faults
