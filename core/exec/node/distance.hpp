// The distance to a peer's processor, which a sender learns from the time that its own copies take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace circoll::node {

/// The cost of memory that both processes use. A cache line that the peer has read must be taken from its cache before
/// it can be written: 1.6 ns a line between two threads of one core, 9 between cores with a cache in common, 27 without
/// one (AMD EPYC). Processes move, so that it is timed now and then, and never held for good.
class Distance {
 public:
  using Clock = std::chrono::steady_clock;

  /// Copies of fewer bytes say too little.
  static constexpr std::size_t least_bytes = 8192;
  /// Of so many copies one is timed.
  static constexpr std::uint32_t timed_of = 8;
  /// Of so many messages between processors far apart one goes as if they were near, and is timed.
  static constexpr std::uint32_t tried_of = 32;

  /// `far_ns`: time of a line from which on the peer is far.
  explicit Distance(double far_ns) : far_ns_(far_ns) {}

  [[nodiscard]] bool is_far() const { return line_ns_ >= far_ns_; }
  /// True if the next message is to go as between processors far apart.
  [[nodiscard]] bool next_is_far() { return is_far() && ++tries_ % tried_of != 0; }

  /// Does a copy into memory that the peer reads, and times some.
  template <typename Copy>
  void copy(std::size_t bytes, const Copy& copy) {
    if (bytes < least_bytes || (!is_far() && ++copies_ % timed_of != 0)) return copy();
    const Clock::time_point start = Clock::now();
    copy();
    note(bytes, Clock::now() - start);
  }
  /// Takes note of a copy of at least `least_bytes`. One that was interrupted must not count for much.
  void note(std::size_t bytes, Clock::duration time) {
    constexpr double line_bytes = 64, weight = 0.25, most = 1.75;
    const double ns =
        std::chrono::duration<double, std::nano>(time).count() / (static_cast<double>(bytes) / line_bytes);
    line_ns_ += weight * (std::min(ns, most * far_ns_) - line_ns_);
  }

 private:
  double far_ns_;
  double line_ns_ = 0;
  std::uint32_t copies_ = 0;
  std::uint32_t tries_ = 0;
};

}  // namespace circoll::node
