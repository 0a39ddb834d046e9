// Schedules made of an algorithm of MSCCL.
#pragma once

#include "msccl/msccl.hpp"
#include "msccl/program.hpp"

namespace circoll::msccl {

/// Throws as schedules_from_msccl().
[[nodiscard]] MscclSchedules raise(const Program& program);

}  // namespace circoll::msccl
