#include "exec/node/store.hpp"

#include <mutex>

namespace circoll::node {

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
