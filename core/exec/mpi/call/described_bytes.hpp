// The bytes of a call whose arguments nobody has looked at so far.
#pragma once

#include "exec/mpi/call/call.hpp"

namespace circoll::mpi {

/// The packed bytes of this rank's contribution or block, as CallerBuffers::own_bytes counts them, of a call that has
/// succeeded. They are 0 on an intercommunicator. Reads arguments only; allocates for a datatype that is new.
[[nodiscard]] Count described_bytes(const Call& call) noexcept;

}  // namespace circoll::mpi
