// Calls with memory that only a device should touch go to the native library, on all ranks alike.
#pragma once

#include <string_view>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/comm/communicator.hpp"

namespace circoll::mpi {

/// Why such a call is native.
inline constexpr std::string_view in_device_memory = "a buffer is in device memory on some rank";

/// Tells whether a buffer of the call is in device memory on any of its ranks. Where that is expected, it is asked once
/// about each call that waits and would be served; waits for the other ranks. Returns an MPI error code.
[[nodiscard]] int find_device_memory(const Call& call, const CommState& state, bool* found);

/// Why a nonblocking call must be native, which cannot wait for the other ranks' answers; empty: it need not.
[[nodiscard]] std::string_view unanswered(const Call& call, const CommState& state);

}  // namespace circoll::mpi
