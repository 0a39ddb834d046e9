// The last blocking calls on a communicator that were served, ready to be made again.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "exec/mpi/serve/operation.hpp"

namespace circoll::mpi {

/// Keeps operations for calls that a program repeats. What reading the arguments and finding the plan has given is kept
/// with the operation, from the second call of a kind on. Most communicators have few calls, and many none that comes
/// again. Used by one thread at a time.
class ServedCalls {
 public:
  /// The operation of an earlier call of the same kind, or nullptr.
  [[nodiscard]] Operation* find(const Call& call, const CallShape& shape, const InternedChoice& choice) {
    for (const std::unique_ptr<Operation>& operation : operations_) {
      if (operation != nullptr && operation->again(call, shape, choice)) return operation.get();
    }
    return nullptr;
  }
  /// True if a call like this one was among the last that were asked about, most likely.
  [[nodiscard]] bool has_seen(const Call& call, const InternedChoice& choice) {
    const std::uint32_t mark = mark_of(CallShape(call), choice);
    if (std::find(seen_.begin(), seen_.end(), mark) != seen_.end()) return true;
    seen_[next_seen_++ % seen_.size()] = mark;
    return false;
  }
  /// Keeps an operation in place of the one that was kept first.
  void keep(std::unique_ptr<Operation> operation) noexcept {
    operations_[oldest_] = std::move(operation);
    oldest_ = (oldest_ + 1) % operations_.size();
  }
  void clear() noexcept {
    for (std::unique_ptr<Operation>& operation : operations_) operation.reset();
  }

 private:
  /// A mark is never 0, by which a place is free.
  static std::uint32_t mark_of(const CallShape& shape, const InternedChoice& choice) {
    std::uint64_t mark = 0x9e3779b97f4a7c15ULL;
    const auto add = [&mark](std::uint64_t word) { mark = (mark ^ (mark >> 29U) ^ word) * 0xbf58476d1ce4e5b9ULL; };
    add(static_cast<std::uint64_t>(shape.sendcount));
    add(static_cast<std::uint64_t>(shape.recvcount));
    add(static_cast<std::uint64_t>(shape.root) << 16U | static_cast<std::uint64_t>(shape.collective) << 8U |
        shape.buffers);
    add(reinterpret_cast<std::uintptr_t>(&choice));
    return static_cast<std::uint32_t>(mark >> 32U) | 1U;
  }

  std::array<std::unique_ptr<Operation>, 4> operations_{};
  std::array<std::uint32_t, 8> seen_{};
  std::size_t oldest_ = 0;
  std::size_t next_seen_ = 0;
};

}  // namespace circoll::mpi
