// The question whether a call's buffers are memory of a device.
#pragma once

#include "exec/mpi/call/call.hpp"

namespace circoll::mpi {

/// True if the processor should not touch a buffer of the call at this rank. Buffers that are not significant here are
/// not looked at, nor are those of no elements. A buffer counts as one allocation, of which the first and the last byte
/// are asked about; absolute addresses of several pieces count as a device's where there is a runtime. Arguments may be
/// erroneous.
[[nodiscard]] bool has_device_buffer(const Call& call, Rank rank, Rank size);

}  // namespace circoll::mpi
