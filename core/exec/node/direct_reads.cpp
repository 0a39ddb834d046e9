#include "exec/node/direct_reads.hpp"

#include <sched.h>

#include <algorithm>

namespace circoll::node {
namespace {

/// Parts are read at a time that are so large, into places of the taker, or through the same memory. Each call of the
/// system costs some 2 us beside the copy, as much as 16 to 32 KiB. A part that is larger than the cache leaves it
/// before it is taken.
constexpr std::size_t placed_bytes = std::size_t{1} << 20U;
constexpr std::size_t passing_bytes = std::size_t{1} << 18U;

}  // namespace

void DirectReads::deliver(Incoming& message, const Announcement& announcement) {
  if (begin_shared(message, announcement)) return;
  due_.push_back({.message = &message, .id = announcement.id, .where = announcement.where});
}

/// Reads one message that is due. Only one, because other ranks may wait for steps that can begin once it is over.
bool DirectReads::read_due() {
  if (due_.empty()) return false;
  const Due due = due_.front();
  due_.pop_front();
  answer(due.message, due.id, due.message != nullptr && !read_directly(*due.message, due.where));
  return true;
}

void DirectReads::answer(Incoming* message, std::uint64_t id, bool refused) {
  if (refused) refused_.push_back({.id = id, .message = message});
  acks_.push_back({.id = id, .message = refused ? nullptr : message, .refused = refused});
}

/// Some memory cannot be read by other processes, that of a device for one.
bool DirectReads::read_directly(Incoming& message, std::uint64_t from) const {
  if (message.taker != nullptr) return read_parts(message, from);
  bool right = true;
  message.into.for_each(0, message.bytes, [&](std::span<std::byte> piece) {
    right = right && copy_->read(piece.data(), from, piece.size());
    from += piece.size();
  });
  return right;
}

/// Parts go to the taker's own places, or pass through the same memory, which stays in the cache. Those that have been
/// taken before one that cannot be read are not taken again when the message comes another way.
bool DirectReads::read_parts(Incoming& message, std::uint64_t from) const {
  std::span<std::byte> largest;
  message.into.for_each(0, message.into.size(), [&](std::span<std::byte> piece) {
    if (piece.size() > largest.size()) largest = piece;
  });
  for (std::size_t at = 0; at < message.bytes;) {
    const std::size_t left = message.bytes - at;
    std::span<std::byte> part = message.taker->place(at, std::min(left, placed_bytes));
    if (part.empty()) part = largest.first(std::min({left, passing_bytes, largest.size()}));
    if (!copy_->read(part.data(), from + at, part.size())) return false;
    message.put(at, part);
    at += part.size();
  }
  return true;
}

/// A message is over when the acknowledgement is on its way, since nobody need poll afterwards.
bool DirectReads::acknowledge() {
  bool moved = false;
  for (; !acks_.empty() && put(*writer_, LineKind::ack, 0,
                               Announcement{.id = acks_.front().id, .refused = acks_.front().refused ? 1U : 0U});
       acks_.pop_front()) {
    if (acks_.front().message != nullptr) acks_.front().message->over = true;
    moved = true;
  }
  return moved;
}

bool DirectReads::begin_shared(Incoming& message, const Announcement& announcement) {
  const auto memory = store_->data(announcement.shared, sizeof(SharedProgress));
  if (!message.may_be_helped || memory.empty() || message.truncated || !message.into.contiguous() || writer_->full())
    return false;
  const std::span<std::byte> into = message.into.one().first(message.bytes);
  auto& progress = *reinterpret_cast<SharedProgress*>(memory.data());
  reading_.push_back({.message = &message, .id = announcement.id, .read = {progress, into, announcement.where}});
  const auto address = reinterpret_cast<std::uintptr_t>(into.data());
  return put(*writer_, LineKind::destination, 0, Announcement{.where = address, .id = announcement.id});
}

bool DirectReads::read_shared() {
  bool moved = false;
  std::erase_if(reading_, [&](Reading& one) {
    moved = one.read.go_on(*copy_) || moved;
    if (!one.read.over()) return false;
    answer(one.message, one.id, one.message != nullptr && one.read.failed());
    return true;
  });
  return moved;
}

Incoming* DirectReads::take_refused(const Announcement& announcement) {
  const auto place = std::find_if(refused_.begin(), refused_.end(),
                                  [&](const Refused& one) { return one.id + 1 == announcement.refused; });
  if (place == refused_.end()) return nullptr;
  Incoming* const message = place->message;
  refused_.erase(place);
  return message;
}

void DirectReads::stop_shared(const Incoming& message) noexcept {
  constexpr int turns_before_looking = 256;
  for (Reading& one : reading_) {
    if (one.message != &message) continue;
    one.message = nullptr;
    one.read.stop();
    // The peer writes a part at once when it has taken it.
    for (int turn = 1; !one.read.over(); ++turn) {
      (void)one.read.go_on(*copy_);
      sched_yield();
      if (turn % turns_before_looking == 0 && !is_alive(peer_)) break;
    }
  }
}

void DirectReads::abandon(const Incoming& message) noexcept {
  const auto forget = [&message](auto& one) {
    if (one.message == &message) one.message = nullptr;
  };
  stop_shared(message);
  for (std::size_t i = 0; i < due_.size(); ++i) forget(due_[i]);
  for (std::size_t i = 0; i < acks_.size(); ++i) forget(acks_[i]);
  std::for_each(refused_.begin(), refused_.end(), forget);
}

}  // namespace circoll::node
