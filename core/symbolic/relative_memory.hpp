// The symbolic memory of a rank that does what all others do, in runs of slots with alike values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/rotation.hpp"
#include "schedule/walker.hpp"
#include "symbolic/relative_expressions.hpp"

namespace circoll::symbolic {

/// Adjacent slots, or blocks of an operand one after another, that hold the same value.
struct Piece {
  std::int64_t count = 0;
  RelativeValue value{};
};

/// The memory of rank 0. Slots that a walk visits hold blocks, from which values may be counted.
class RelativeMemory {
 public:
  /// `turn` is any one of the schedule's rotation. `by_rank`: each rank contributes to every block.
  RelativeMemory(const Schedule& schedule, const Turn& turn, bool by_rank);

  /// The contribution of the rank to the blocks of its buffers.
  [[nodiscard]] RelativeValue contribution() const {
    return {.form = own_contribution, .turn = 0, .of_block = !by_rank_};
  }
  /// Adds the values of ranges, in order. Undefined ones are `nothing`.
  void load(std::span<const Range> ranges, std::vector<Piece>& pieces) const;
  /// Stores values in ranges of as many slots. Their views are the live ones from now on.
  void store(std::span<const Range> ranges, const std::vector<Piece>& pieces);
  /// The value of a slot that holds a block, counted from a rank in any case.
  [[nodiscard]] RelativeValue from_rank(const RelativeValue& value, Block block) const;
  /// The same counted from the rank whose block it is. As it is if blocks are no rank's.
  [[nodiscard]] RelativeValue from_block(const RelativeValue& value, Block block) const;
  /// True if all blocks in these slots of a buffer are one rank's.
  [[nodiscard]] bool of_one_rank(std::int32_t buffer, Slot slot, std::int64_t count) const;

 private:
  struct Run {
    Slot first;
    Slot end;
    RelativeValue value;
    Block block;  ///< of the first slot
  };
  [[nodiscard]] std::size_t storage_of(std::int32_t buffer) const {
    return static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
  }
  void load(const Walker& w, std::vector<Piece>& pieces) const;
  void put(std::int32_t buffer, const Run& run);
  /// True if `next` has been added to `run`, after which it stands in the same buffer.
  [[nodiscard]] bool merged(std::int32_t buffer, Run& run, const Run& next) const;

  const Schedule* schedule_;
  Block blocks_per_rank_;
  bool by_rank_;
  std::vector<std::vector<Run>> runs_;  // of each storage, in order, disjoint
  std::vector<std::int32_t> live_;      // of each storage: the view that its runs belong to, -1: none
};

}  // namespace circoll::symbolic
