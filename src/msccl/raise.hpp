// Schedules made of an algorithm of MSCCL.
#pragma once

#include "circoll/msccl.hpp"
#include "msccl/program.hpp"

namespace circoll::msccl {

/// Throws as schedules_from_msccl().
[[nodiscard]] MscclSchedules raise(const Program& program);

}  // namespace circoll::msccl
