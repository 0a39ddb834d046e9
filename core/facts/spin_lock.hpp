// Locks for a few instructions, or to be tried.
#pragma once

#include <sched.h>

#include <atomic>

namespace circoll {

/// A lock that costs half of a std::mutex where nobody else wants it. Use lock() for nothing that may block, MPI calls
/// least of all. Use try_lock() for those: it fails for the thread that has the lock, too, which comes back through
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
