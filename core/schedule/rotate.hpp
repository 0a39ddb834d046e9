// Rotation of a schedule in its own memory.
#pragma once

#include "schedule/rotation.hpp"

namespace circoll {

/// Does what rotated() does, in place. Memory is taken for scratch of an exchange only, whose blocks become a list.
void rotate(Schedule& schedule, Rotation rotation, Rank by);

}  // namespace circoll
