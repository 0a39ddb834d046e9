// Schedules made into an algorithm of MSCCL.
#pragma once

#include <span>

#include "circoll/schedule.hpp"
#include "msccl/program.hpp"

namespace circoll::msccl {

/// Throws as to_msccl(). `ranks` are sound.
[[nodiscard]] Program lower(std::span<const Schedule> ranks);

}  // namespace circoll::msccl
