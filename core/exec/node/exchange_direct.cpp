// The part of a connection that serves messages which one end reads out of the other's memory.
//
// Behind it is the part for messages that both ends copy (shared_copy.hpp).
#include <sched.h>

#include <algorithm>
#include <new>

#include "exec/node/exchange.hpp"

namespace circoll::node {
namespace {

/// Parts are read at a time that are so large, into places of the taker, or through the same memory. Each call of the
/// system costs some 2 us beside the copy, as much as 16 to 32 KiB. A part that is larger than the cache leaves it
/// before it is taken.
constexpr std::size_t placed_bytes = std::size_t{1} << 20U;
constexpr std::size_t passing_bytes = std::size_t{1} << 18U;

}  // namespace

/// A message that is stored moves each cache line twice between the processors, and one that is read once. Far apart,
/// that saves more than the call of the system costs, from some 8 KiB on.
bool Connection::goes_directly(std::size_t bytes) {
  if (!ways_.direct) return false;
  const bool pays = bytes >= ways_.direct_from || (bytes >= ways_.far_from && !crowded_ && distance_.next_is_far());
  // Asked last: it lies in the peer's segment, where short messages need not look.
  return pays && in_ != nullptr && in_->reads_directly.load(std::memory_order_relaxed) != 0;
}

bool Connection::announce_direct(Outgoing& message) {
  auto place = std::find_if(offers_.begin(), offers_.end(), [](const Offer& offer) { return !offer.open; });
  if (place == offers_.end()) place = offers_.insert(place, Offer{});
  *place = {.message = &message, .open = true, .shared = share(message)};
  const auto id = static_cast<std::uint64_t>(place - offers_.begin());
  const auto address = reinterpret_cast<std::uintptr_t>(message.data.one().data());
  return put(Kind::direct, message.key,
             Announcement{.bytes = message.data.size(), .where = address, .id = id, .shared = place->shared});
}

void Connection::deliver_directly(Incoming& message, const Announcement& announcement) {
  if (begin_shared(message, announcement)) return;
  due_.push_back({.message = &message, .id = announcement.id, .where = announcement.where});
}

/// Reads one message that is due. Only one, because other ranks may wait for steps that can begin once it is over.
bool Connection::read_due() {
  if (due_.empty()) return false;
  const Due due = due_.front();
  due_.pop_front();
  answer(due.message, due.id, due.message != nullptr && !read_directly(*due.message, due.where));
  return true;
}

void Connection::answer(Incoming* message, std::uint64_t id, bool refused) {
  if (refused) refused_.push_back({.id = id, .message = message});
  acks_.push_back({.id = id, .message = refused ? nullptr : message, .refused = refused});
}

/// Some memory cannot be read by other processes, that of a device for one.
bool Connection::read_directly(Incoming& message, std::uint64_t from) const {
  if (message.taker != nullptr) return read_parts(message, from);
  bool right = true;
  message.into.for_each(0, message.bytes, [&](std::span<std::byte> piece) {
    right = right && copy_.read(piece.data(), from, piece.size());
    from += piece.size();
  });
  return right;
}

/// Parts go to the taker's own places, or pass through the same memory, which stays in the cache. Those that have been
/// taken before one that cannot be read are not taken again when the message comes another way.
bool Connection::read_parts(Incoming& message, std::uint64_t from) const {
  std::span<std::byte> largest;
  message.into.for_each(0, message.into.size(), [&](std::span<std::byte> piece) {
    if (piece.size() > largest.size()) largest = piece;
  });
  for (std::size_t at = 0; at < message.bytes;) {
    const std::size_t left = message.bytes - at;
    std::span<std::byte> part = message.taker->place(at, std::min(left, placed_bytes));
    if (part.empty()) part = largest.first(std::min({left, passing_bytes, largest.size()}));
    if (!copy_.read(part.data(), from + at, part.size())) return false;
    message.put(at, part);
    at += part.size();
  }
  return true;
}

/// A message is over when the acknowledgement is on its way, since nobody need poll afterwards.
bool Connection::acknowledge() {
  bool moved = false;
  for (; !acks_.empty() &&
         put(Kind::ack, 0, Announcement{.id = acks_.front().id, .refused = acks_.front().refused ? 1U : 0U});
       acks_.pop_front()) {
    if (acks_.front().message != nullptr) acks_.front().message->over = true;
    moved = true;
  }
  return moved;
}

/// Between processors that are far apart the sender's writing holds up more than it helps.
std::size_t Connection::share(const Outgoing& message) {
  if (!message.may_help || message.data.size() < ways_.shared_from || copy_.writing() != Reason::none) return 0;
  if (distance_.next_is_far()) return 0;
  const std::size_t offset = own_store_->take(sizeof(SharedProgress));
  if (offset != 0) new (own_store_->data(offset, sizeof(SharedProgress)).data()) SharedProgress;
  return offset;
}

bool Connection::begin_shared(Incoming& message, const Announcement& announcement) {
  const auto memory = store_.data(announcement.shared, sizeof(SharedProgress));
  if (!message.may_be_helped || memory.empty() || message.truncated || !message.into.contiguous() || writer_.full())
    return false;
  const std::span<std::byte> into = message.into.one().first(message.bytes);
  auto& progress = *reinterpret_cast<SharedProgress*>(memory.data());
  reading_.push_back({.message = &message, .id = announcement.id, .read = {progress, into, announcement.where}});
  const auto address = reinterpret_cast<std::uintptr_t>(into.data());
  return put(Kind::destination, 0, Announcement{.where = address, .id = announcement.id});
}

void Connection::take_destination(const Announcement& announcement) {
  if (announcement.id >= offers_.size()) return;
  const Offer& offer = offers_[announcement.id];
  if (!offer.open || offer.message == nullptr || offer.shared == 0) return;
  auto& progress = *reinterpret_cast<SharedProgress*>(own_store_->data(offer.shared, sizeof(SharedProgress)).data());
  writing_.push_back({.id = announcement.id, .write = {progress, offer.message->data.one(), announcement.where}});
}

bool Connection::read_shared() {
  bool moved = false;
  std::erase_if(reading_, [&](Reading& one) {
    moved = one.read.go_on(copy_) || moved;
    if (!one.read.over()) return false;
    answer(one.message, one.id, one.message != nullptr && one.read.failed());
    return true;
  });
  return moved;
}

bool Connection::write_shared() {
  bool moved = false;
  std::erase_if(writing_, [&](Writing& one) {
    const Distance::Clock::time_point start = Distance::Clock::now();
    const std::size_t bytes = one.write.go_on(copy_);
    if (bytes >= Distance::least_bytes) distance_.note(bytes, Distance::Clock::now() - start);
    written_bytes_ += bytes;
    moved = moved || bytes != 0;
    return bytes == 0;
  });
  return moved;
}

void Connection::stop_shared(const Incoming& message) noexcept {
  constexpr int turns_before_looking = 256;
  for (Reading& one : reading_) {
    if (one.message != &message) continue;
    one.message = nullptr;
    one.read.stop();
    // The peer writes a part at once when it has taken it.
    for (int turn = 1; !one.read.over(); ++turn) {
      (void)one.read.go_on(copy_);
      sched_yield();
      if (turn % turns_before_looking == 0 && !is_alive(address_)) break;
    }
  }
}

}  // namespace circoll::node
