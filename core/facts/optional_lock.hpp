// A lock that costs a comparison where there is only one thread.
#pragma once

#include "facts/spin_lock.hpp"

namespace circoll {

/// A SpinLock that is taken only if it was asked for. Fixed before the first use.
class OptionalLock {
 public:
  explicit OptionalLock(bool needed) : needed_(needed) {}

  void lock() noexcept {
    if (needed_) lock_.lock();
  }
  [[nodiscard]] bool try_lock() noexcept { return !needed_ || lock_.try_lock(); }
  void unlock() noexcept {
    if (needed_) lock_.unlock();
  }

 private:
  bool needed_;
  SpinLock lock_;
};

}  // namespace circoll
