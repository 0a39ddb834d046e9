// Nonblocking operations on a communicator that are over, ready for calls like theirs.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "exec/mpi/comm/communicator.hpp"
#include "exec/mpi/pending/progress.hpp"
#include "facts/spin_lock.hpp"

namespace circoll::mpi {

/// The counterpart of KnownCalls for nonblocking calls. The thread that advances operations keeps them here, and the
/// program takes them. Thread-safe. Callers delete an operation that has no place any more.
class FinishedOperations final : public Attachment {
 public:
  static constexpr Slot slot = Slot::operations;

  FinishedOperations() = default;
  ~FinishedOperations() override { FinishedOperations::clear(); }

  /// Returns nullptr, or one that has no place any more.
  [[nodiscard]] std::unique_ptr<Pending> keep(std::unique_ptr<Pending> pending) noexcept {
    std::unique_ptr<Pending> before(last_.exchange(pending.release()));
    return before == nullptr ? nullptr : keep_longer(std::move(before));
  }
  /// One that meets a condition, or nullptr.
  template <typename Condition>
  [[nodiscard]] std::unique_ptr<Pending> take(Condition&& condition) {
    std::unique_ptr<Pending> displaced;
    if (std::unique_ptr<Pending> last(last_.exchange(nullptr)); last != nullptr) {
      if (condition(*last)) return last;
      displaced = keep_longer(std::move(last));
    }
    const std::lock_guard lock(lock_);
    for (std::unique_ptr<Pending>& kept : others_) {
      if (kept != nullptr && condition(*kept)) return std::move(kept);
    }
    return nullptr;
  }
  void clear() noexcept override {
    std::unique_ptr<Pending>(last_.exchange(nullptr)).reset();
    for (std::unique_ptr<Pending>& kept : others_) kept.reset();
  }

 private:
  [[nodiscard]] std::unique_ptr<Pending> keep_longer(std::unique_ptr<Pending> pending) noexcept {
    const std::lock_guard lock(lock_);
    const auto free = std::find(others_.begin(), others_.end(), nullptr);
    std::unique_ptr<Pending>& place = free != others_.end() ? *free : others_[next_++ % others_.size()];
    place.swap(pending);
    return pending;
  }

  std::atomic<Pending*> last_{nullptr};  ///< owned; for one call that comes again and again
  SpinLock lock_;                        // of what follows
  std::array<std::unique_ptr<Pending>, 16> others_{};
  std::size_t next_ = 0;
};

}  // namespace circoll::mpi
