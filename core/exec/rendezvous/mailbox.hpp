// Mailboxes in memory that ranks share, threads of a process or processes of a node.
//
// A letter announces a message. It lies in its sender's memory and travels by reference: into the receiver's inbox, and
// back into the sender's once the receiver has got the data. An inbox is a list through the letters themselves, so that
// it is never full, and sending takes no memory but the sender's own. There are no pointers: places are a rank and a
// number, or offsets, since processes see the memory at different addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "circoll/types.hpp"

namespace circoll::rendezvous {

/// The place of a letter: its sender and its number there. The default is none.
class LetterRef {
 public:
  LetterRef() = default;
  LetterRef(Rank sender, std::uint32_t index)
      : value_(static_cast<std::uint64_t>(sender) << 32U | (std::uint64_t{index} + 1)) {}
  explicit LetterRef(std::uint64_t value) : value_(value) {}

  [[nodiscard]] explicit operator bool() const { return value_ != 0; }
  [[nodiscard]] Rank sender() const { return static_cast<Rank>(value_ >> 32U); }
  [[nodiscard]] std::uint32_t index() const { return static_cast<std::uint32_t>(value_) - 1; }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// The announcement of a message. Written by its owner before it is posted, then read by the receiver.
struct Letter {
  std::uint64_t next = 0;       ///< the next letter of the same inbox, as LetterRef::value()
  std::uint64_t execution = 0;  ///< the number of the sender's execution
  Count elements = 0;
  std::uint32_t tag = 0;   ///< the message among those of one pair of ranks
  std::uint32_t step = 0;  ///< the sender's step, by which the receiver finds the data
};

/// The shared part of one rank's end.
class Mailbox {
 public:
  static constexpr std::size_t alignment = 64;

  /// Makes a mailbox without letters in memory of sizeof(Mailbox) bytes that is aligned to `alignment`.
  static Mailbox* create(std::byte* memory);

  /// Gives it memory for letters, in the same address space or segment. The span may be replaced by another while no
  /// letter is under way. Only the owner may do it.
  void use_letters(std::span<Letter> letters);
  [[nodiscard]] Letter& letter(std::uint32_t index);

  /// Puts a letter into the inbox, and wakes the owner if it sleeps. Thread-safe and lock-free.
  void push(LetterRef ref, Letter& letter);
  /// Takes all letters, the last one first; none if the inbox is empty. Only the owner may do it.
  [[nodiscard]] LetterRef take_all();
  [[nodiscard]] bool empty() const { return inbox_.load() == 0; }

  /// Sleeps until there is a letter or `stop` is set. Only the owner may do it. The flag is in shared memory, too.
  void wait(const std::atomic<bool>& stop);
  /// Wakes the owner, to look at `stop`.
  void wake();

 private:
  Mailbox() = default;

  std::atomic<std::uint64_t> inbox_{0};  ///< the letter that came last, as LetterRef::value()
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<std::int64_t> letters_offset_{0};  ///< from this object
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free,
              "processes can share lock-free atomics only");

}  // namespace circoll::rendezvous
