// The processors that processes of the node may use.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/node/control_group.hpp"

namespace circoll::node {

/// The number of processors on which at least one of the processes may run, this one among them. It is not more than
/// the control groups of this process give time for. At least 1. What cannot be asked is left out.
[[nodiscard]] std::size_t processors_of(std::span<const pid_t> processes, const ControlGroupFiles& files = {});

/// The processors that this process may use, in numbers that others can compare.
struct OwnProcessors {
  std::uint64_t set = 0;    ///< equal for processes that may run on the same ones
  std::uint32_t count = 0;  ///< of the set; 0: not known
  std::uint32_t quota = 0;  ///< the processors' time that the control groups give, rounded up; 0: no limit

  bool operator==(const OwnProcessors&) const = default;
};
[[nodiscard]] OwnProcessors own_processors(const ControlGroupFiles& files = {});

/// True if the processes of a node have fewer processors than they are. Sets of which each has its own are taken for
/// disjoint. False if nothing is known of one of them.
[[nodiscard]] bool is_crowded(std::span<const OwnProcessors> processes);

}  // namespace circoll::node
