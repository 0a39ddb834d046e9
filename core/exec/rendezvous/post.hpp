// One rank's end of the message passing by rendezvous, with one copy, which the receiver makes.
//
// A send posts a letter into the receiver's mailbox. When the receive has begun as well, the receiver copies the data
// straight from the sender's memory, which rests until then, and sends the letter back: that ends the send. Executions
// are numbered, and a letter of a later one waits for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/error.hpp"
#include "exec/rendezvous/mailbox.hpp"
#include "exec/rendezvous/receives.hpp"

namespace circoll::rendezvous {

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
