// The memory that control groups leave to a process.
//
// Memory beyond the limit of a control group is not refused: the kernel ends a process of the group. So the limit is
// read before memory is taken.
#pragma once

#include <cstdint>
#include <optional>

#include "exec/node/control_group.hpp"

namespace circoll::node {

/// The bytes that the control groups of this process may still take, file caches being given up. Versions 1 and 2 are
/// read, and the smallest number of all levels counts. Nothing if there is no limit, or none can be read. Others take
/// from the same memory, so it is an estimate.
[[nodiscard]] std::optional<std::uint64_t> memory_room(const ControlGroupFiles& files = {});

}  // namespace circoll::node
