// Which of a number of things with numbers are taken, where all ranks must take the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace circoll::mpi {

/// Slots 0 .. size - 1, taken one after another by all ranks of a communicator, given back by each rank when it likes.
/// Until all have been taken once, ranks agree without a word; from then on they must compare what they find free.
class TagSlots {
 public:
  explicit TagSlots(int size) : size_(size) {}

  static constexpr int window = 64;

  /// Takes `count` (1 or 2) slots in a row; the first of them, or -1 if there are none. `agree(mask)` -> the bits that are
  /// set at all ranks; called by all ranks or by none. Mutual exclusion is the caller's, by `lock`, which is not held while
  /// agreeing.
  template <typename Agree, typename Lock>
  [[nodiscard]] int take(int count, Agree&& agree, Lock& lock) {
    if (taken_.empty()) taken_.resize(static_cast<std::size_t>(size_), false);
    if (next_ + count > size_) used_all_ = true, next_ = 0;
    if (!used_all_) return take_at(next_, count);
    for (int looked_at = 0; looked_at < size_; looked_at += window) {
      std::uint64_t mask = free_from(next_);
      lock.unlock();
      mask = agree(mask);
      lock.lock();
      if (count == 2) mask &= mask >> 1U;
      for (int i = 0; i < window; ++i) {
        if ((mask >> static_cast<unsigned>(i) & 1U) != 0) return take_at(next_ + i, count);
      }
      next_ += window;
      if (next_ >= size_) next_ = 0;
    }
    return -1;
  }
  void give_back(int first, int count) noexcept {
    for (int i = first; i < first + count; ++i) taken_[static_cast<std::size_t>(i)] = false;
  }

 private:
  int take_at(int first, int count) {
    for (int i = first; i < first + count; ++i) taken_[static_cast<std::size_t>(i)] = true;
    next_ = first + count;
    return first;
  }
  [[nodiscard]] std::uint64_t free_from(int first) const {
    std::uint64_t mask = 0;
    for (int i = 0; i < std::min(window, size_ - first); ++i) {
      if (!taken_[static_cast<std::size_t>(first) + static_cast<std::size_t>(i)])
        mask |= std::uint64_t{1} << static_cast<unsigned>(i);
    }
    return mask;
  }

  int size_;
  int next_ = 0;
  bool used_all_ = false;
  std::vector<bool> taken_;
};

}  // namespace circoll::mpi
