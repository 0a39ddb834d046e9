// The division of a segment: lanes to peers first, then memory for long messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/node/lane.hpp"

namespace circoll::node {

/// A view of the data of a segment, this process's own or a peer's. Data of another size or alignment than Segment
/// gives are an empty board, and what a peer has written is believed only as far as it lies inside.
class Board {
 public:
  Board() = default;
  /// `data` begins at a multiple of alignof(Lane), as Segment::data() does. A board has room for `most_lanes` lanes, if
  /// they leave half of the data free; the number must be the same at all processes.
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

}  // namespace circoll::node
