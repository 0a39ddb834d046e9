// A long message that both ends copy: the receiver reads parts of it, and the sender writes others.
//
// Two processors copy more in the same time than one. The sender of a message that is read directly often has nothing
// else to do. Each part is taken by one of the two, from a counter in the sender's store, so that it does not matter
// who is late. The sender takes a part only when it writes it at once, so that no part stays behind when it goes away.
// If the peer errs, numbers in the counter may be anything: nothing outside the message is touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "exec/node/direct_copy.hpp"

namespace circoll::node {

/// The progress of a message, in the sender's store. Offsets and bytes are of the message.
struct SharedProgress {
  /// Where the next part begins. Both sides take parts.
  alignas(64) std::atomic<std::uint64_t> taken{0};
  /// The bytes of the parts that the sender has written. It alone says so.
  alignas(64) std::atomic<std::uint64_t> written{0};
  /// 1 + where the part begins that the sender could not write. Then it writes no more.
  std::atomic<std::uint64_t> returned{0};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A part of a message.
struct CopyPart {
  /// Parts are not smaller, but for the last. A call of the system costs as much as copying a third of this.
  static constexpr std::size_t least = 65536;
  /// The least part of the receiver while the sender has not taken any. The sender may have other things to do.
  static constexpr std::size_t least_alone = 4 * least;

  std::size_t at = 0;
  std::size_t bytes = 0;

  /// The part that begins at `at`. Each side has a large one, half of all if the message is not very long. The others
  /// are there for both to end at about the same time. `alone`: nobody but the taker has taken any.
  [[nodiscard]] static CopyPart of(std::size_t at, std::size_t size, bool alone = false);
  /// Takes the next part. Nothing if there is none left. `own`: the bytes of the parts that the taker has, if it is the
  /// receiver.
  [[nodiscard]] static std::optional<CopyPart> take(SharedProgress& progress, std::size_t size, std::size_t own = 0);
};

/// The sender's side.
class SharedWrite {
 public:
  /// `to` is an address of the receiver's, which has room for the message.
  SharedWrite(SharedProgress& progress, std::span<const std::byte> data, std::uint64_t to)
      : progress_(&progress), data_(data), to_(to) {}

  /// Writes one part. 0 bytes: there is nothing left for the sender to do.
  [[nodiscard]] std::size_t go_on(const DirectCopy& copy);

 private:
  SharedProgress* progress_;
  std::span<const std::byte> data_;
  std::uint64_t to_;
};

/// The receiver's side.
class SharedRead {
 public:
  /// `from` is an address of the sender's.
  SharedRead(SharedProgress& progress, std::span<std::byte> into, std::uint64_t from)
      : progress_(&progress), into_(into), from_(from) {}

  /// Reads one part, and the one that the sender could not write. True if anything has been read.
  bool go_on(const DirectCopy& copy);
  /// Takes all that is left, so that the sender takes no more. The bytes that it takes are not the message.
  void stop();
  /// True if everything has been read or written, or will not be.
  [[nodiscard]] bool over() const {
    return own_ == into_.size() || progress_->written.load(std::memory_order_acquire) >= into_.size() - own_;
  }
  /// True if the message is not there when it is over: something could not be read, or it was stopped.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void account(std::size_t bytes);

  SharedProgress* progress_;
  std::span<std::byte> into_;
  std::uint64_t from_;
  std::size_t own_ = 0;  ///< bytes of the parts that the sender does not write
  bool returned_ = false;
  bool failed_ = false;
};

}  // namespace circoll::node
