// The part of a connection that serves messages which both ends copy.
#include <sched.h>

#include <new>

#include "exec/node/exchange.hpp"

namespace circoll::node {

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
