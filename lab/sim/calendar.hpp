// The events of a simulation that are still to come, in the order of their times.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace circoll::sim {

/// A radix heap on the bytes of the times, which have the order of the times, since none is negative. It
/// takes events that are not before the one taken last, and gives those of the same time in the order in which they
/// went in. An event is moved at most once for each byte of its time, and in sequence, where a binary heap would jump.
template <typename Event>
class Calendar {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Precondition: event.time >= 0, and not before the one taken last.
  void push(const Event& event) {
    deal(event);
    ++size_;
  }

  /// Precondition: !empty().
  Event pop() {
    if (next_ == current_.size()) refill();
    --size_;
    return current_[next_++];
  }

 private:
  static constexpr std::size_t digits = 8;
  static constexpr std::size_t values = 256;

  static std::uint64_t bits(double time) { return std::bit_cast<std::uint64_t>(time + 0.0); }

  /// Buckets lie by the highest byte in which a time differs from the current one, and then by that byte.
  void deal(const Event& event) {
    const std::uint64_t key = bits(event.time);
    if (key == current_key_) {
      current_.push_back(event);
      return;
    }
    const auto digit = static_cast<std::size_t>(63 - std::countl_zero(key ^ current_key_)) / 8;
    const std::size_t value = key >> (8 * digit) & 0xffU;
    buckets_[digit * values + value].push_back(event);
    used_[digit][value / 64] |= std::uint64_t{1} << (value % 64);
  }

  /// Deals the earliest bucket out to those of lower bytes. Its earliest time is the current one.
  void refill() {
    current_.clear();
    next_ = 0;
    const std::size_t earliest = take_earliest();
    dealt_.swap(buckets_[earliest]);
    std::uint64_t least = bits(dealt_.front().time);
    for (const Event& event : dealt_) {
      const std::uint64_t key = bits(event.time);
      least = key < least ? key : least;
    }
    current_key_ = least;
    if (earliest < values) {  // the times differ in no byte
      current_.swap(dealt_);
      return;
    }
    for (const Event& event : dealt_) deal(event);
    dealt_.clear();
    // The larger of the two memories stays with the bucket that has needed it.
    if (buckets_[earliest].empty()) dealt_.swap(buckets_[earliest]);
  }

  std::size_t take_earliest() {
    for (std::size_t digit = 0;; ++digit) {
      for (std::size_t word = 0; word < values / 64; ++word) {
        if (used_[digit][word] == 0) continue;
        const auto bit = static_cast<std::size_t>(std::countr_zero(used_[digit][word]));
        used_[digit][word] &= used_[digit][word] - 1;
        return digit * values + word * 64 + bit;
      }
    }
  }

  std::vector<std::vector<Event>> buckets_ = std::vector<std::vector<Event>>(digits * values);
  std::array<std::array<std::uint64_t, values / 64>, digits> used_{};
  std::vector<Event> current_;  // all at the time of current_key_
  std::vector<Event> dealt_;
  std::uint64_t current_key_ = 0;
  std::size_t next_ = 0;  // in current_
  std::size_t size_ = 0;
};

}  // namespace circoll::sim
