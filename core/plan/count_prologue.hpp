// In a prologue the ranks learn the counts that MPI tells to other ranks only. These are the counts of gatherv and
// scatterv, which the root knows, and of blocks of an alltoallv between two other ranks that pass through.
//
// The prologue runs the schedule of the collective itself once, with one 64-bit count per user block in place of the
// data. After it every rank has seen the count of every block that will pass through it, and can bind the data. All
// executors share it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/plan.hpp"

namespace circoll {

/// A rank's prologue: a plan, the sizes of the memory it runs in, and where to find the counts afterwards.
///
/// Use:
///   1. allocate arrays of int64 of send_counts(), recv_counts() and scratch_counts() entries, aligned to 64 bytes;
///   2. fill();
///   3. execute plan() on them as on any other plan;
///   4. collect().
class CountPrologue {
 public:
  /// `data` is one rank's schedule of gatherv, scatterv or alltoallv. O(slots of its buffers).
  explicit CountPrologue(const Schedule& data);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t send_counts() const { return send_counts_; }
  [[nodiscard]] std::size_t recv_counts() const { return recv_counts_; }
  [[nodiscard]] std::size_t scratch_counts() const {
    return static_cast<std::size_t>(plan_.scratch_bytes) / sizeof(Count);
  }

  /// Clears the three arrays and writes the counts that this rank knows. They are its own count (gatherv), all counts
  /// (scatterv at the root), or those of the blocks that it sends (alltoallv). `own_count` is for gatherv at other
  /// ranks than the root, `counts` (p entries) for the others. `mark` is a word of this rank to all others in an
  /// alltoallv.
  void fill(Count own_count, std::span<const Count> counts, std::span<Count> send, std::span<Count> recv,
            std::span<Count> scratch, bool mark = false) const;

  /// Collects the counts after execution. For gatherv and scatterv, `counts` has p entries: counts[b] of every user
  /// block b that touches this rank, and 0 for the others. For alltoallv they are counts[i] of known_blocks()[i].
  /// Returns true if some rank has set its mark: the same on all ranks, since each has a block of every rank.
  bool collect(std::span<const Count> send, std::span<const Count> recv, std::span<const Count> scratch,
               std::span<Count> counts) const;

  /// alltoallv: the user blocks that touch this rank, ascending.
  [[nodiscard]] const std::vector<Block>& known_blocks() const { return known_; }

 private:
  /// A place where the count of a user block may have been left.
  struct CountSource {
    Area area;
    std::size_t index;
    Block user_block;
  };

  Collective collective_;
  Shape shape_;
  Plan plan_;
  std::size_t send_counts_ = 0;
  std::size_t recv_counts_ = 0;
  std::vector<CountSource> places_;
  std::vector<Block> known_;
};

}  // namespace circoll
