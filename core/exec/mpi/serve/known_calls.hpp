// The calls that are known on a communicator, so that one which comes again costs little.
#pragma once

#include <vector>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/serve/native_calls.hpp"
#include "exec/mpi/serve/served_calls.hpp"

namespace circoll::mpi {

/// The memory of blocking calls. Used by one thread at a time, as the communicator is.
struct KnownCalls final : Attachment {
  static constexpr Slot slot = Slot::calls;

  NativeCalls native;
  ServedCalls served;
  /// The counts of a prologue that the call now has learned. There are p of gatherv and scatterv, and those of the
  /// known blocks of alltoallv.
  std::vector<Count> counts;

  void clear() noexcept override {
    native.clear();
    served.clear();
  }
};

}  // namespace circoll::mpi
