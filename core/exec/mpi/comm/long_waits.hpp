// Where waits that have become long are noted, so that other processes can tell for whom a rank waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "circoll/types.hpp"

namespace circoll::mpi {

/// Notes that the blocking call of this rank which began last waits. `peers`: ranks of its communicator. `message`: the
/// number of the first one's message between the two ranks, from 1 on.
using NoteWait = void (*)(std::span<const Rank> peers, std::uint32_t message) noexcept;

/// The function of the drop-in; nullptr: nobody wants to know. Set while MPI begins and ends.
[[nodiscard]] std::atomic<NoteWait>& long_waits();

}  // namespace circoll::mpi
