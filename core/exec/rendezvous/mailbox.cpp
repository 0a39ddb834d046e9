#include "exec/rendezvous/mailbox.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <new>

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

}  // namespace circoll::rendezvous
