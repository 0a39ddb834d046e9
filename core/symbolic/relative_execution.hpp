// The symbolic execution of one rank, on behalf of all others that do the same, and its memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/dependencies.hpp"
#include "circoll/verify.hpp"
#include "schedule/matching.hpp"
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

/// The execution of all ranks' schedules, of which only rank 0's is there: the others are its rotations. A step of rank
/// 0 stands for the same step of all ranks, and they run together. Messages follow the rendezvous rule of Execution.
/// Ranks are alike whenever a step has run on all of them, so that the two executions end alike
/// (docs/developer/proof.md).
class RelativeExecution {
 public:
  /// Schedule, matching and dependencies must outlive it. `at_least_once` allows a contribution to count more often.
  RelativeExecution(const Schedule& schedule, Rotation rotation, const RelativeMatching& matching,
                    const Dependencies& dependencies, bool at_least_once);

  /// Runs every step once everything that it waits for has ended. Throws Refuted, and what the watch throws.
  void run(const ProofWatch& watch = {});

  [[nodiscard]] const RelativeExpressions& expressions() const { return expressions_; }
  [[nodiscard]] const RelativeMemory& memory() const { return memory_; }
  /// As SymbolicExecution::levels.
  [[nodiscard]] std::int64_t levels() const { return levels_; }

 private:
  void finish(StepIndex done);
  [[noreturn]] void report_deadlock() const;
  /// The values of an operand, all of them defined. Throws Refuted.
  void load(StepIndex step, Operand operand, std::vector<Piece>& pieces) const;
  void transfer(StepIndex send, StepIndex recv);
  void copy(StepIndex step);
  void reduce(StepIndex step);
  /// Adds `count` blocks to the result of a step, which has as many `before` them.
  void combine(StepIndex step, const RelativeValue& left, const RelativeValue& right, std::int64_t before,
               std::int64_t count);

  const Schedule& schedule_;
  const RelativeMatching& matching_;
  const Dependencies& dependencies_;
  bool at_least_once_;
  RelativeExpressions expressions_;
  RelativeMemory memory_;
  std::vector<std::uint32_t> waiting_;
  std::vector<bool> posted_;
  std::vector<std::int64_t> chain_;  // the longest chain of messages that each step has waited for
  std::int64_t levels_ = 0;
  std::size_t ended_ = 0;
  std::vector<StepIndex> ready_;
  std::vector<Piece> left_;
  std::vector<Piece> right_;
  std::vector<Piece> result_;
};

}  // namespace circoll::symbolic
