#include "exec/node/board.hpp"

#include <algorithm>

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

}  // namespace circoll::node
