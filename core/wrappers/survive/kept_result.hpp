// The results of short calls, of which a rank keeps a copy for others instead of waiting for them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "exec/mpi/call/call.hpp"
#include "exec/mpi/call/datatype.hpp"

namespace circoll::mpi {

/// Every rank's result of a kept call is the same, and needs something of every rank. So any rank that has left can
/// give it to the others, and whoever has made the next such call knows that all have made this one.
class KeptResult {
 public:
  /// Looks at a call on `size` ranks, alike on all of them.
  KeptResult(const Call& call, Rank size);
  /// False: a closing barrier is needed.
  [[nodiscard]] bool is_kept() const { return bytes_ > 0; }

  /// Appends the result, which the call's receive buffer has.
  void append_to(std::vector<std::byte>& bytes) const;
  /// Puts a result that another rank has kept into the receive buffer. Returns an MPI error code.
  [[nodiscard]] int put(std::span<const std::byte> bytes) const;

 private:
  /// Of longer results a copy takes longer than a barrier in memory.
  static constexpr Count most_bytes = 16384;

  void* recvbuf_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  TypeInfo info_{};
  Count count_ = 0;
  Count bytes_ = 0;
};

}  // namespace circoll::mpi
