// The processors that processes of the node may use.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "exec/node/control_group.hpp"

namespace circoll::node {

/// The number of processors on which at least one of the processes may run, this one among them. It is not more than
/// the control groups of this process give time for. At least 1. What cannot be asked is left out.
[[nodiscard]] std::size_t processors_of(std::span<const pid_t> processes, const ControlGroupFiles& files = {});

}  // namespace circoll::node
