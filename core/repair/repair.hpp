// The plan of a repair: the pieces of every result, schedules that put them together, and their proof.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repair/failures.hpp"
#include "repair/stage.hpp"

namespace circoll::repair {

/// A result that survivors need, with the pieces that it is put together from.
struct Assembly {
  Block block = 0;
  Set target = 0;           ///< its contributions
  std::uint64_t users = 0;  ///< the survivors that need it, at least one
  /// All places of each piece, in the order of the pieces' least contributions.
  std::vector<std::vector<SlotOfRank>> pieces{};
};

/// Writes the schedules of all ranks; those without pieces and needs are empty.
///
/// In a round every rank sends and receives one message at most.
/// Pieces are combined in pairs, neighbours first, towards the rank that has most of them. Results spread by doubling:
/// in turn t a rank gets what the one 2^t survivors before it has. The schedules work in the memory that the program's
/// left. They never write the caller's send buffer, and of scratch memory only their own.
[[nodiscard]] std::vector<Schedule> write_assemblies(const LinkedSchedules& program, std::vector<Assembly> assemblies);

/// Throws Error(unsupported) for more ranks than a set has bits.
void check_size(Rank p);
/// The failed ranks as a set. Throws Error(invalid_argument) unless some, and not all, fail, each named once.
[[nodiscard]] std::uint64_t set_of(std::span<const Rank> failed, Rank p);
/// Throws Error(invalid_argument) unless there is an entry for each step of every rank that has not failed.
void check_progress(const LinkedSchedules& program, const Progress& progress, std::uint64_t failed);

/// A proven repair from the values that the survivors hold at this point. Throws Error(internal) if its own schedules
/// are wrong.
[[nodiscard]] Repair plan_repair(const LinkedSchedules& program, const Stage& stage, std::uint64_t failed,
                                 std::span<const Goal> goals, const FailureBounds& bounds);

}  // namespace circoll::repair
