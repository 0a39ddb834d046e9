#include "exec/node/offers.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace circoll::node {

Announcement Offers::make(Outgoing& message) {
  auto place = std::find_if(offers_.begin(), offers_.end(), [](const Offer& offer) { return !offer.open; });
  if (place == offers_.end()) place = offers_.insert(place, Offer{});
  *place = {.message = &message, .open = true, .shared = share(message)};
  const auto id = static_cast<std::uint64_t>(place - offers_.begin());
  const auto address = reinterpret_cast<std::uintptr_t>(message.data.one().data());
  return {.bytes = message.data.size(), .where = address, .id = id, .shared = place->shared};
}

Outgoing* Offers::acknowledged(const Announcement& announcement) {
  if (announcement.id >= offers_.size() || !offers_[announcement.id].open) return nullptr;
  const Offer offer = std::exchange(offers_[announcement.id], {});
  std::erase_if(writing_, [&](const Writing& one) { return one.id == announcement.id; });
  if (offer.shared != 0) store_->give_back(offer.shared);
  Outgoing* const message = offer.message;
  if (message == nullptr) return nullptr;
  if (announcement.refused == 0) {
    message->over = true;
    return nullptr;
  }
  message->refused = announcement.id + 1;
  return message;
}

/// Between processors that are far apart the sender's writing holds up more than it helps.
std::size_t Offers::share(const Outgoing& message) {
  if (!message.may_help || message.data.size() < shared_from_ || copy_->writing() != Reason::none) return 0;
  if (distance_->next_is_far()) return 0;
  const std::size_t offset = store_->take(sizeof(SharedProgress));
  if (offset != 0) new (store_->data(offset, sizeof(SharedProgress)).data()) SharedProgress;
  return offset;
}

void Offers::take_destination(const Announcement& announcement) {
  if (announcement.id >= offers_.size()) return;
  const Offer& offer = offers_[announcement.id];
  if (!offer.open || offer.message == nullptr || offer.shared == 0) return;
  auto& progress = *reinterpret_cast<SharedProgress*>(store_->data(offer.shared, sizeof(SharedProgress)).data());
  writing_.push_back({.id = announcement.id, .write = {progress, offer.message->data.one(), announcement.where}});
}

bool Offers::write() {
  bool moved = false;
  std::erase_if(writing_, [&](Writing& one) {
    const Distance::Clock::time_point start = Distance::Clock::now();
    const std::size_t bytes = one.write.go_on(*copy_);
    if (bytes >= Distance::least_bytes) distance_->note(bytes, Distance::Clock::now() - start);
    written_bytes_ += bytes;
    moved = moved || bytes != 0;
    return bytes == 0;
  });
  return moved;
}

void Offers::abandon(const Outgoing& message) noexcept {
  std::erase_if(writing_, [&](const Writing& one) { return offers_[one.id].message == &message; });
  for (Offer& offer : offers_) {
    if (offer.message == &message) offer.message = nullptr;
  }
}

}  // namespace circoll::node
