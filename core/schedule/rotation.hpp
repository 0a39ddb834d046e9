// Rotation of a schedule: the same steps at another rank, with everything counted from there.
#pragma once

#include "circoll/algorithm.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// The addition of a distance to every rank of a call, modulo p, and its effect on blocks and slots.
class Turn {
 public:
  /// Of schedules like `schedule`. Throws Error(invalid_argument) if parts are to be rotated, and the blocks are no
  /// multiple of p. Precondition: rotation is not none, 0 <= by < p.
  Turn(const Schedule& schedule, Rotation rotation, Rank by);

  [[nodiscard]] Rank rank(Rank rank) const { return sum(rank, by_, size_); }  ///< the rank that this one becomes
  [[nodiscard]] Block block(Block block) const;                               ///< the block that this one becomes
  /// Of a buffer of the caller with so many slots.
  [[nodiscard]] Slot slot(Slot slot, Slot slots) const {
    return slots == turning_slots_ ? sum(slot, by_ * blocks_per_rank_, slots) : slot;
  }
  [[nodiscard]] bool keeps_blocks() const { return blocks_per_rank_ == 0; }  ///< true if every block stays what it is
  [[nodiscard]] bool is_exchange() const { return exchange_; }
  /// Adjacent blocks that turn with one rank; 0 if blocks stay.
  [[nodiscard]] Block blocks_per_rank() const { return blocks_per_rank_; }

 private:
  /// (a + b) mod n for a, b < n.
  [[nodiscard]] static std::int64_t sum(std::int64_t a, std::int64_t b, std::int64_t n) {
    return a < n - b ? a + b : a - (n - b);
  }

  Rank size_;
  Rank by_;
  bool exchange_;
  Block blocks_;
  Block blocks_per_rank_;
  Slot turning_slots_;
};

/// Makes the schedule of rank r + by (modulo p) of that of rank r. The caller's buffers keep MPI's order of blocks, in
/// which a range that goes around is cyclic. Steps, rounds, volumes and dependencies stay. O(steps + listed blocks).
/// Throws Error(unsupported) for a collective with a root, or whose result depends on the order of ranks.
[[nodiscard]] Schedule rotated(const Schedule& schedule, Rotation rotation, Rank by);

/// Does what rotated() does, in place. Memory is taken for scratch of an exchange only, whose blocks become a list.
void rotate(Schedule& schedule, Rotation rotation, Rank by);

}  // namespace circoll
