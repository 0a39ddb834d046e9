// Copies between the memory of this process and that of a peer on the node. The peer has nothing to do for them
// (process_vm_readv, process_vm_writev). Their gain depends on the distance to the peer's processor, too. A sender
// learns that from the time that its copies into shared memory take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "exec/node/place.hpp"
#include "exec/node/reason.hpp"

namespace circoll::node {

/// The outcome of a copy. Without a reason, all bytes have been copied.
struct Copied {
  std::size_t bytes = 0;
  Reason reason = Reason::none;

  [[nodiscard]] explicit operator bool() const { return reason == Reason::none; }
};

/// Lets every process of this user read and write this one, by PR_SET_PTRACER_ANY. The Yama security module asks for
/// that permission where kernel.yama.ptrace_scope is 1. Other settings need no permission, and this function changes
/// nothing then. More processes may look into this one afterwards, so a user must be able to prevent the call. Returns
/// `ptrace_scope` if Yama allows it to administrators only.
Reason let_peers_copy();
/// Takes the permission back, even if another library of the process has given it.
void let_no_peers_copy();

/// Reading and writing the memory of one peer. The constructor tries both: it reads the nonce of the peer's segment,
/// and writes a word that is there for that. Only the peer can tell whether it can read this process.
///
/// A peer that has ended is an error as others, but the kernel may give its pid to another process of the user. So use
/// copies only for peers that are known to wait for them.
class DirectCopy {
 public:
  /// One call of the system copies no more.
  static constexpr std::size_t most_bytes_of_call = 0x7ffff000;

  DirectCopy() = default;
  DirectCopy(const Address& own, const Address& peer);

  /// Why memory of the peer cannot be read; `none` if it can.
  [[nodiscard]] Reason reading() const { return reading_; }
  /// Why it cannot be written.
  [[nodiscard]] Reason writing() const { return writing_; }

  /// Copies `bytes` from the peer's memory, at an address of the peer's. Refuses if the constructor was refused. Memory
  /// that is not mapped, on either side, is the reason `unmapped`. Bytes before it may have been copied.
  [[nodiscard]] Copied read(std::byte* to, std::uint64_t from, std::size_t bytes) const;
  /// Copies `bytes` into the peer's memory.
  [[nodiscard]] Copied write(std::uint64_t to, const std::byte* from, std::size_t bytes) const;

 private:
  std::int32_t pid_ = 0;
  Reason reading_ = Reason::no_segment;
  Reason writing_ = Reason::no_segment;
};

/// The cost of memory that both processes use. Before this process can write a cache line that the peer has read, it
/// must take the line from the peer's cache. That takes 1.6 ns a line between two threads of one core, 9 between cores
/// with a cache in common, 27 without one (AMD EPYC). Processes move, so that it is timed now and then, and never held
/// for good.
class Distance {
 public:
  using Clock = std::chrono::steady_clock;

  /// Copies of fewer bytes say too little.
  static constexpr std::size_t least_bytes = 8192;
  /// Of so many copies one is timed.
  static constexpr std::uint32_t timed_of = 8;
  /// Of so many messages between processors far apart, one goes the way of near processors, and is timed.
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
  /// Takes note of a copy of at least `least_bytes`. A copy that was interrupted must not count for much.
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
