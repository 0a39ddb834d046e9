// A lock for a few instructions.
#pragma once

#include <sched.h>

#include <atomic>

namespace circoll::mpi {

/// Half as expensive as std::mutex where nobody else wants it. Not for anything that may block, MPI calls least of all.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace circoll::mpi
