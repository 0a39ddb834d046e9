// The plan of a repair: the pieces of every result, schedules that put them together, and their proof.
#pragma once

#include <cstdint>
#include <span>

#include "repair/failures.hpp"
#include "repair/goals.hpp"
#include "repair/stage.hpp"

namespace circoll::repair {

/// Throws Error(unsupported) for more ranks than a set has bits.
void check_size(Rank p);
/// The failed ranks as a set. Throws Error(invalid_argument) unless some, and not all, fail, each named once.
[[nodiscard]] std::uint64_t set_of(std::span<const Rank> failed, Rank p);
/// Throws Error(invalid_argument) unless there is an entry for each step of every rank that has not failed.
void check_progress(const Program& program, const Progress& progress, std::uint64_t failed);

/// A proven repair of what the survivors hold at this point. Throws Error(internal) if its own schedules are wrong.
[[nodiscard]] Repair plan_repair(const Program& program, const Stage& stage, std::uint64_t failed,
                                 std::span<const Goal> goals, const FailureBounds& bounds);

}  // namespace circoll::repair
