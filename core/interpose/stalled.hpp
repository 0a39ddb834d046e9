// The message about a wait that was ended because the calls of the ranks do not match (exec/mpi/comm/stalls.hpp).
#pragma once

#include "exec/mpi/comm/stalls.hpp"

namespace circoll::interpose {

/// Writes it to stderr.
void say_stalled(const mpi::Stalled& stalled) noexcept;

}  // namespace circoll::interpose
