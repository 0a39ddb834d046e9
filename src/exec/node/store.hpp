// Memory of a segment for messages that do not fit into a line of a lane.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/optional_lock.hpp"
#include "core/ring.hpp"

namespace circoll::node {

/// Blocks of a segment's memory, one after another in a ring. The sender takes them, receivers give them back, and the
/// oldest are used again first. A block that a receiver keeps for long is in the way of those behind it: then there is
/// none to be had, and the message takes another way.
class Store {
 public:
  Store() = default;
  /// The memory of a board, zero at first. Of a peer's store only data() and give_back() may be called.
  /// `threads`: several threads of the owner take memory at a time.
  explicit Store(std::span<std::byte> memory, bool threads = false)
      : memory_(memory.first(memory.size() / sizeof(Head) * sizeof(Head))),
        lock_(std::make_unique<OptionalLock>(threads)) {}

  /// Takes memory of `bytes`. Returns its offset in the store, or 0 if there is no room.
  [[nodiscard]] std::size_t take(std::size_t bytes);
  /// The memory at an offset, where cache lines begin; empty if it would not lie inside.
  [[nodiscard]] std::span<std::byte> data(std::uint64_t offset, std::uint64_t bytes) const;
  /// Gives memory back. Precondition: data() of it was not empty.
  void give_back(std::uint64_t offset) const;

 private:
  /// A cache line in front of every block.
  struct alignas(64) Head {
    std::atomic<std::uint32_t> given_back{0};
  };
  /// A block that has been taken, in lines. Peers can write to the memory of the store, but not to this.
  struct Block {
    std::size_t first = 0;
    std::size_t lines = 0;
  };

  [[nodiscard]] Head& head(std::size_t line) const { return reinterpret_cast<Head*>(memory_.data())[line]; }
  /// The first of so many free lines that follow one another, behind the newest block or at the beginning.
  [[nodiscard]] std::optional<std::size_t> place(std::size_t lines) const;

  std::span<std::byte> memory_{};
  std::unique_ptr<OptionalLock> lock_{};  // of the next
  Ring<Block> taken_{512};                // the oldest first
};

}  // namespace circoll::node
