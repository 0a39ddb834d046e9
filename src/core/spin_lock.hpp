// A lock for a few instructions, or to be tried.
#pragma once

#include <sched.h>

#include <atomic>

namespace circoll {

/// Half as expensive as std::mutex where nobody else wants it. lock() is not for anything that may block, MPI calls
/// least of all. try_lock() is for those: it fails for the thread that has the lock, too, which comes back through
/// MPI's progress engine.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  [[nodiscard]] bool try_lock() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace circoll
