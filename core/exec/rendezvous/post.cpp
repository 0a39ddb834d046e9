#include "exec/rendezvous/post.hpp"

#include <algorithm>
#include <string>

namespace circoll::rendezvous {

void Post::use_letters(std::span<Letter> letters) {
  check(free_.size() == letters_, "the letters of an execution that is under way cannot be replaced");
  mailbox(rank_).use_letters(letters);
  letters_ = letters.size();
  free_.clear();
  free_.reserve(letters_);
  for (std::size_t i = letters_; i-- > 0;) free_.push_back(static_cast<std::uint32_t>(i));
}

void Post::begin(Receives& receives) {
  // Peers may be one execution ahead, so that letters of two executions can meet.
  const std::size_t enough = 2 * (receives.size() + receives.sends()) + 16;
  batch_.reserve(enough);
  early_.reserve(enough);
  receives_ = &receives;
  receives.reset();
  ++number_;
  std::erase_if(early_, [this](LetterRef ref) {
    if (at(ref).execution != number_) return false;
    match(ref);
    return true;
  });
}

void Post::send(StepIndex step, Rank to, std::uint32_t tag, Count elements) {
  check(!free_.empty(), "a plan sends more messages than there are letters");
  const LetterRef ref(rank_, free_.back());
  free_.pop_back();
  Letter& letter = at(ref);
  letter.execution = number_;
  letter.elements = elements;
  letter.tag = tag;
  letter.step = step;
  mailbox(to).push(ref, letter);
}

void Post::answer(StepIndex step) {
  const LetterRef ref = receives_->of_step(step).letter;
  mailbox(ref.sender()).push(ref, at(ref));
}

std::span<const LetterRef> Post::take() {
  batch_.clear();
  // The next letter is read before a letter is handled: an answer puts it into another inbox.
  for (LetterRef ref = mailbox(rank_).take_all(); ref; ref = LetterRef(at(ref).next)) batch_.push_back(ref);
  std::reverse(batch_.begin(), batch_.end());
  return batch_;
}

Receive& Post::match(LetterRef ref) {
  const Letter& letter = at(ref);
  check(letter.execution == number_, "a message of an execution that this rank has left");
  Receive* const receive = receives_->find(ref.sender(), letter.tag);
  if (receive == nullptr || receive->letter || receive->elements != letter.elements) {
    throw Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(ref.sender()) + " sent " + std::to_string(letter.elements) +
                    " elements that rank " + std::to_string(rank_) +
                    " does not expect: the ranks called a collective with arguments that do not match");
  }
  receive->letter = ref;
  return *receive;
}

}  // namespace circoll::rendezvous
