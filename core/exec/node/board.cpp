#include "exec/node/board.hpp"

#include <algorithm>
#include <mutex>

namespace circoll::node {

Board::Board(std::span<std::byte> data, std::size_t most_lanes) {
  if (data.size() < sizeof(Head) || reinterpret_cast<std::uintptr_t>(data.data()) % alignof(Lane) != 0) return;
  data_ = data;
  most_lanes_ = std::min(most_lanes, (data.size() - sizeof(Head)) / 2 / sizeof(Lane));
}

Lane& Board::lane(std::size_t number) const { return reinterpret_cast<Lane*>(data_.data() + sizeof(Head))[number]; }

Lane* Board::lane_to(std::uint64_t receiver) {
  if (Lane* const found = find_lane(receiver); found != nullptr || data_.empty()) return found;
  const std::uint32_t number = head().opened.load(std::memory_order_relaxed);
  if (number >= most_lanes_) return nullptr;
  lane(number).receiver.store(receiver, std::memory_order_relaxed);
  head().opened.store(number + 1, std::memory_order_release);  // a peer that sees the number sees the receiver
  return &lane(number);
}

Lane* Board::find_lane(std::uint64_t receiver) const {
  if (data_.empty()) return nullptr;
  // A peer's number may be anything.
  const std::size_t opened = std::min<std::size_t>(head().opened.load(std::memory_order_acquire), most_lanes_);
  for (std::size_t i = 0; i < opened; ++i) {
    if (lane(i).receiver.load(std::memory_order_relaxed) == receiver) return &lane(i);
  }
  return nullptr;
}

std::span<std::byte> Board::memory() const {
  return data_.empty() ? data_ : data_.subspan(sizeof(Head) + most_lanes_ * sizeof(Lane));
}

std::optional<std::size_t> Store::place(std::size_t lines) const {
  const std::size_t all = this->lines();
  if (taken_.empty()) return lines <= all ? std::optional<std::size_t>(0) : std::nullopt;
  const std::size_t oldest = taken_.front().first;
  const std::size_t next = taken_.back().first + taken_.back().lines;
  if (taken_.back().first < oldest) {  // the newest are at the beginning again
    return oldest - next >= lines ? std::optional(next) : std::nullopt;
  }
  if (all - next >= lines) return next;
  return oldest >= lines ? std::optional<std::size_t>(0) : std::nullopt;
}

std::size_t Store::take(std::size_t bytes) {
  if (lock_ == nullptr) return 0;
  const std::lock_guard lock(*lock_);
  while (!taken_.empty() && head(taken_.front().first).given_back.load(std::memory_order_acquire) != 0) {
    taken_.pop_front();
  }
  if (bytes / sizeof(Head) > this->lines()) return 0;
  const std::size_t lines = 1 + (bytes + sizeof(Head) - 1) / sizeof(Head);
  const std::optional<std::size_t> first = place(lines);
  if (!first) return 0;
  taken_.push_back({.first = *first, .lines = lines});
  head(*first).given_back.store(0, std::memory_order_relaxed);
  return (*first + 1) * sizeof(Head);
}

std::span<std::byte> StoreView::data(std::uint64_t offset, std::uint64_t bytes) const {
  const bool inside = offset >= sizeof(Head) && offset % sizeof(Head) == 0 && offset <= memory_.size() &&
                      bytes <= memory_.size() - offset;
  return inside ? memory_.subspan(offset, bytes) : std::span<std::byte>();
}

void StoreView::give_back(std::uint64_t offset) const {
  head(offset / sizeof(Head) - 1).given_back.store(1, std::memory_order_release);
}

}  // namespace circoll::node
