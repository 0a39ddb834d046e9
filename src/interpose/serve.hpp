// What all entry points of the drop-in do with a call.
#pragma once

#include "exec/mpi/call.hpp"

#define CIRCOLL_EXPORT __attribute__((visibility("default")))

namespace circoll::interpose {

/// Serves a call as the environment says. An error goes through the communicator's error handler, unless the
/// native collective has done that. Returns the MPI error code; throws nothing.
int serve(const mpi::Call& call) noexcept;

}  // namespace circoll::interpose
