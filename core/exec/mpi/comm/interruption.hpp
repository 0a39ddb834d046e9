// News that ends the waiting of a call.
#pragma once

#include <atomic>
#include <cstdint>

namespace circoll::mpi {

/// The ends of processes, for a call that would wait for them forever. Without it a call waits as MPI's own do.
struct Interruption {
  const std::atomic<std::uint32_t>* ends = nullptr;  ///< it grows when a process ends
  std::uint32_t seen = 0;                            ///< ends that the call need not look at

  [[nodiscard]] bool there() const { return ends->load(std::memory_order_relaxed) != seen; }
};

/// In place of an MPI error code: the call has been interrupted, and may go on or be stopped.
inline constexpr int interrupted = -1;

}  // namespace circoll::mpi
