#include "exec/rendezvous/post.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <new>
#include <string>

namespace circoll::rendezvous {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// std::atomic::wait knows the threads of one process only.
void futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  (void)syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), operation, value, nullptr, nullptr, 0);
}

}  // namespace

Mailbox* Mailbox::create(std::byte* memory) { return new (memory) Mailbox; }

void Mailbox::use_letters(std::span<Letter> letters) {
  const auto from = reinterpret_cast<std::uintptr_t>(this);
  const auto to = reinterpret_cast<std::uintptr_t>(letters.data());
  letters_offset_.store(static_cast<std::int64_t>(to - from), std::memory_order_release);
}

Letter& Mailbox::letter(std::uint32_t index) {
  std::byte* const letters = reinterpret_cast<std::byte*>(this) + letters_offset_.load(std::memory_order_acquire);
  return reinterpret_cast<Letter*>(letters)[index];
}

void Mailbox::push(LetterRef ref, Letter& letter) {
  std::uint64_t last = inbox_.load(std::memory_order_relaxed);
  do {
    letter.next = last;
  } while (!inbox_.compare_exchange_weak(last, ref.value()));
  // Only a sleeper pays for a call of the system. Its wait() looks at the inbox after it has said that it sleeps.
  if (asleep_.load() != 0) wake();
}

LetterRef Mailbox::take_all() {
  if (inbox_.load(std::memory_order_relaxed) == 0) return {};
  return LetterRef(inbox_.exchange(0));
}

void Mailbox::wait(const std::atomic<bool>& stop) {
  while (true) {
    asleep_.store(1);
    if (!empty() || stop.load()) break;
    futex(asleep_, FUTEX_WAIT, 1);
  }
  asleep_.store(0);
}

void Mailbox::wake() {
  if (asleep_.exchange(0) != 0) futex(asleep_, FUTEX_WAKE, INT_MAX);
}

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
