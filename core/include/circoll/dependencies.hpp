// Dependencies between steps, derived from the memory that they read and write.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// A directed acyclic graph over the steps of one schedule, as adjacency lists of successors.
struct Dependencies {
  std::vector<std::uint32_t> offsets;    ///< steps + 1 entries
  std::vector<StepIndex> targets;        ///< successors of step i, ascending: targets[offsets[i] .. offsets[i + 1])
  std::vector<std::uint32_t> in_degree;  ///< number of predecessors of each step

  [[nodiscard]] std::span<const StepIndex> successors(StepIndex step) const {
    return {targets.data() + offsets[step], offsets[step + 1] - offsets[step]};
  }
};

/// Step j waits for an earlier step i in three cases. One of them writes a slot that the other reads or writes, or they
/// use different views of one storage and one of them writes, or an explicit edge says so. Edges that follow from
/// others through the last writer of a slot are left out. O(n log n) in the number n of ranges, plus the parts that
/// ranges cut one another into.
[[nodiscard]] Dependencies derive_dependencies(const Schedule& schedule);

}  // namespace circoll
