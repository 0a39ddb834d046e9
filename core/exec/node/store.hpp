// Memory of a segment for messages that do not fit into a line of a lane.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "facts/optional_lock.hpp"
#include "facts/ring.hpp"

namespace circoll::node {

/// The blocks of a store as anybody sees them who has been told where one is.
class StoreView {
 public:
  StoreView() = default;
  /// The memory of a board.
  explicit StoreView(std::span<std::byte> memory)
      : memory_(memory.first(memory.size() / sizeof(Head) * sizeof(Head))) {}

  /// The memory at an offset, where cache lines begin; empty if it would not lie inside.
  [[nodiscard]] std::span<std::byte> data(std::uint64_t offset, std::uint64_t bytes) const;
  /// Gives a block back. Precondition: data() of it was not empty.
  void give_back(std::uint64_t offset) const;

 protected:
  /// A cache line in front of every block.
  struct alignas(64) Head {
    std::atomic<std::uint32_t> given_back{0};
  };

  [[nodiscard]] Head& head(std::size_t line) const { return reinterpret_cast<Head*>(memory_.data())[line]; }
  [[nodiscard]] std::size_t lines() const { return memory_.size() / sizeof(Head); }

 private:
  std::span<std::byte> memory_{};
};

/// Blocks of a segment's memory, one after another in a ring. The sender takes them, receivers give them back, and the
/// oldest are used again first. A block that a receiver keeps for long is in the way of those behind it: then there is
/// none to be had, and the message takes another way.
class Store : public StoreView {
 public:
  Store() = default;
  /// The memory of the own board, zero at first. `threads`: several threads take memory at a time.
  explicit Store(std::span<std::byte> memory, bool threads = false)
      : StoreView(memory), lock_(std::make_unique<OptionalLock>(threads)) {}

  /// Takes memory of `bytes`. Returns its offset in the store, or 0 if there is no room.
  [[nodiscard]] std::size_t take(std::size_t bytes);

 private:
  /// A block that has been taken, in lines. Peers can write to the memory of the store, but not to this.
  struct Block {
    std::size_t first = 0;
    std::size_t lines = 0;
  };

  /// The first of so many free lines that follow one another, behind the newest block or at the beginning.
  [[nodiscard]] std::optional<std::size_t> place(std::size_t lines) const;

  std::unique_ptr<OptionalLock> lock_{};  // of the next
  Ring<Block> taken_{512};                // the oldest first
};

}  // namespace circoll::node
