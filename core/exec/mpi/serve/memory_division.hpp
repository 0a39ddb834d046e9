// The division of the memory that an execution needs.
#pragma once

#include "circoll/types.hpp"
#include "exec/mpi/message/arena.hpp"

namespace circoll::mpi {

/// Offsets in bytes. Scratch memory comes first.
struct MemoryDivision {
  /// The bytes that are needed. Messages are packed in `staging`, operands of an operator of the program in `temp`, and
  /// the caller's buffers, where they have gaps, in `send` and `recv`.
  struct Needs {
    Count scratch = 0, staging = 0, temp = 0, send = 0, recv = 0;
  };

  MemoryDivision() = default;
  explicit MemoryDivision(const Needs& needs)
      : staging(aligned(needs.scratch)),
        temp(staging + aligned(needs.staging)),
        send(temp + aligned(needs.temp)),
        recv(send + aligned(needs.send)),
        bytes(recv + aligned(needs.recv)) {}

  Count staging = 0, temp = 0, send = 0, recv = 0;
  Count bytes = 0;  ///< of all

  /// Bytes rounded up, so that what follows is aligned for every use.
  static constexpr Count aligned(Count bytes) {
    constexpr Count alignment = ArenaPool::alignment;
    return (bytes + alignment - 1) / alignment * alignment;
  }
};

}  // namespace circoll::mpi
