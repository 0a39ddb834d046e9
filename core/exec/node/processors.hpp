// The processors that processes of the node may use: affinity, and the time that control groups give.
#pragma once

#include <cstdint>
#include <span>

#include "exec/node/control_group.hpp"

namespace circoll::node {

/// The processors that this process may use, in numbers that others can compare.
struct OwnProcessors {
  std::uint64_t set = 0;    ///< equal for processes that may run on the same ones
  std::uint32_t count = 0;  ///< of the set; 0: not known
  std::uint32_t quota = 0;  ///< the processors' time that the control groups give, rounded up, at least 1; 0: no limit

  bool operator==(const OwnProcessors&) const = default;
};
[[nodiscard]] OwnProcessors own_processors(const ControlGroupFiles& files = {});

/// True if the processes of a node have fewer processors than they are. Sets of which each has its own are taken for
/// disjoint. False if nothing is known of one of them.
[[nodiscard]] bool is_crowded(std::span<const OwnProcessors> processes);

}  // namespace circoll::node
