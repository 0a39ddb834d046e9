// The division of a segment: lanes to peers first, then memory for messages that do not fit into a lane.
//
// A Board says where both are. A Store gives out blocks of the memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "exec/node/lane.hpp"
#include "facts/ring.hpp"
#include "facts/spin_lock.hpp"

namespace circoll::node {

/// A view of the data of a segment, this process's own or a peer's. If the data has another size or alignment than
/// Segment gives, the board is empty. A value that a peer has written is believed only as far as it lies inside.
class Board {
 public:
  Board() = default;
  /// `data` begins at a multiple of alignof(Lane), as Segment::data() does. A board has room for `most_lanes` lanes, if
  /// they leave half of the data free. The number must be the same at all processes.
  explicit Board(std::span<std::byte> data, std::size_t most_lanes = default_lanes);

  static constexpr std::size_t default_lanes = 512;

  [[nodiscard]] std::size_t most_lanes() const { return most_lanes_; }
  /// The lane to the process whose segment has this nonce. Opens it at first use; nullptr if there is no room for one
  /// more. Only the owner may call it, one thread at a time.
  [[nodiscard]] Lane* lane_to(std::uint64_t receiver);
  /// The lane that the owner has opened to this nonce; nullptr as long as it has not. Any process may call it.
  /// O(lanes).
  [[nodiscard]] Lane* find_lane(std::uint64_t receiver) const;
  /// The memory for long messages.
  [[nodiscard]] std::span<std::byte> memory() const;

 private:
  /// The beginning of the data.
  struct alignas(64) Head {
    std::atomic<std::uint32_t> opened{0};  ///< the lanes in use, which are the first ones
  };

  [[nodiscard]] Head& head() const { return *reinterpret_cast<Head*>(data_.data()); }
  [[nodiscard]] Lane& lane(std::size_t number) const;

  std::span<std::byte> data_{};
  std::size_t most_lanes_ = 0;
};

/// The blocks of a store, as a process sees them that knows the offset of one.
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

/// Blocks of a segment's memory, one after another in a ring. The sender takes them, and receivers give them back. The
/// oldest are used again first. A block that a receiver keeps for long holds up those behind it. Then no block is free,
/// and the message takes another way.
class Store : public StoreView {
 public:
  Store() = default;
  /// The memory of the own board, zero at first.
  explicit Store(std::span<std::byte> memory) : StoreView(memory), lock_(std::make_unique<SpinLock>()) {}

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

  std::unique_ptr<SpinLock> lock_{};  // of the next
  Ring<Block> taken_{512};            // the oldest first
};

}  // namespace circoll::node
