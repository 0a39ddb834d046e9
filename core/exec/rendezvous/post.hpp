// One rank's end of the message passing by rendezvous, with one copy, which the receiver makes.
//
// A send posts a letter into the receiver's mailbox. When the receive has begun as well, the receiver copies the data
// straight from the sender's memory, which rests until then, and sends the letter back: that ends the send. Executions
// are numbered, and a letter of a later one waits for it.
//
// Ranks are threads of a process or processes of a node. A letter lies in its sender's memory and travels by reference:
// into the receiver's inbox, and back into the sender's. An inbox is a list through the letters themselves, so that it
// is never full, and sending takes no memory but the sender's own. There are no pointers: places are a rank and a
// number, or offsets, since processes see the memory at different addresses.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/plan.hpp"
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

/// A receive waits for its letter, and a letter may come before its receive has begun.
struct Receive {
  Rank source = 0;
  std::uint32_t tag = 0;
  StepIndex step = 0;
  Count elements = 0;
  bool begun = false;
  LetterRef letter{};
};

/// All receives of a plan. Allocates in the constructor only.
class Receives {
 public:
  explicit Receives(const Plan& plan) : of_step_(plan.steps.size()) {
    for (StepIndex step = 0; step < plan.steps.size(); ++step) {
      const PlanStep& s = plan.steps[step];
      if (s.empty) continue;
      if (is_receive(s.kind))
        all_.push_back(Receive{.source = s.peer, .tag = s.tag, .step = step, .elements = s.elements});
      if (s.kind == StepKind::send) ++sends_;
    }
    std::sort(all_.begin(), all_.end(), [](const Receive& a, const Receive& b) {
      return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
    });
    for (std::size_t i = 0; i < all_.size(); ++i) of_step_[all_[i].step] = static_cast<std::uint32_t>(i);
  }

  /// Forgets the letters of the execution before.
  void reset() {
    for (Receive& receive : all_) {
      receive.begun = false;
      receive.letter = {};
    }
  }
  [[nodiscard]] Receive& of_step(StepIndex step) { return all_[of_step_[step]]; }
  /// The receive of the tag-th message from a rank; nullptr if the plan has none.
  [[nodiscard]] Receive* find(Rank source, std::uint32_t tag) {
    const auto at = std::lower_bound(
        all_.begin(), all_.end(), std::pair(source, tag),
        [](const Receive& r, const std::pair<Rank, std::uint32_t>& key) { return std::pair(r.source, r.tag) < key; });
    return at != all_.end() && at->source == source && at->tag == tag ? &*at : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The sends of the plan, each of which needs a letter.
  [[nodiscard]] std::size_t sends() const { return sends_; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return all_.capacity() * sizeof(Receive) + of_step_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<Receive> all_;
  std::vector<std::uint32_t> of_step_;  // valid at receives only
  std::size_t sends_ = 0;
};

/// The private part of a rank's end. Its owner copies the data and keeps the memory of letters and mailboxes, which may
/// be the heap or a segment. Used by one thread at a time.
class Post {
 public:
  /// `mailboxes` are those of all ranks, as this rank sees them. They are read when a call needs them.
  Post(Rank rank, const std::vector<Mailbox*>& mailboxes) : mailboxes_(&mailboxes), rank_(rank) {}
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  /// Has room for the letters that an execution with `receives` sends, and for those that may come. A send must not
  /// wait for a letter: it may be what the others wait for.
  [[nodiscard]] bool has_room_for(const Receives& receives) const { return receives.sends() <= letters_; }
  /// Gives it memory for letters. No execution is under way.
  void use_letters(std::span<Letter> letters);

  /// Begins an execution. All ranks begin the same ones in the same order.
  void begin(Receives& receives);
  /// Announces a message of this rank.
  void send(StepIndex step, Rank to, std::uint32_t tag, Count elements);
  /// Begins a receive. True if its letter has come already: then the caller copies, and answers.
  [[nodiscard]] bool receive(StepIndex step) {
    Receive& receive = receives_->of_step(step);
    receive.begun = true;
    return static_cast<bool>(receive.letter);
  }
  /// The letter of a receive, once it has come.
  [[nodiscard]] const Letter& letter_of(StepIndex step) const { return at(receives_->of_step(step).letter); }
  /// Sends the letter of a receive back, since the data has been copied.
  void answer(StepIndex step);

  /// Handles the letters that have come in. It calls visitor.sent(step) for each send that has ended, and
  /// visitor.arrived(step) for each receive that has begun and whose letter has come. Throws
  /// Error(invalid_argument) for a message that the plan does not expect.
  template <typename Visitor>
  void poll(Visitor& visitor) {
    for (const LetterRef ref : take()) {
      if (ref.sender() == rank_) {
        const StepIndex step = at(ref).step;
        free_.push_back(ref.index());
        visitor.sent(step);
      } else if (at(ref).execution > number_) {
        early_.push_back(ref);
      } else if (const Receive& receive = match(ref); receive.begun) {
        visitor.arrived(receive.step);
      }
    }
  }

 private:
  [[nodiscard]] Letter& at(LetterRef ref) const {
    return (*mailboxes_)[static_cast<std::size_t>(ref.sender())]->letter(ref.index());
  }
  [[nodiscard]] Mailbox& mailbox(Rank rank) const { return *(*mailboxes_)[static_cast<std::size_t>(rank)]; }
  /// The letters that have come in, in the order in which they came.
  [[nodiscard]] std::span<const LetterRef> take();
  /// The receive of a letter of this execution, which takes note of it.
  Receive& match(LetterRef ref);

  const std::vector<Mailbox*>* mailboxes_;
  Rank rank_;
  std::uint64_t number_ = 0;  // of the execution
  Receives* receives_ = nullptr;
  std::size_t letters_ = 0;
  std::vector<std::uint32_t> free_;  // own letters that are not under way
  std::vector<LetterRef> batch_;     // letters being handled
  std::vector<LetterRef> early_;     // of later executions
};

}  // namespace circoll::rendezvous
