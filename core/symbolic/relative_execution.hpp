// The symbolic execution of one rank that does what all others do.
#pragma once

#include <cstdint>
#include <vector>

#include "circoll/dependencies.hpp"
#include "schedule/relative_matching.hpp"
#include "symbolic/relative_expressions.hpp"
#include "symbolic/relative_memory.hpp"

namespace circoll::symbolic {

/// The execution of all ranks' schedules, of which only rank 0's is there: the others are its rotations. A step of rank
/// 0 stands for the same step of all ranks, and they run together. Messages follow the rendezvous rule of Execution.
/// Ranks are alike whenever a step has run on all of them, so that the two executions end alike (docs/proof.md).
class RelativeExecution {
 public:
  /// Schedule, matching and dependencies must outlive it. `at_least_once` allows a contribution to count more often.
  RelativeExecution(const Schedule& schedule, Rotation rotation, const RelativeMatching& matching,
                    const Dependencies& dependencies, bool at_least_once);

  /// Runs every step once everything that it waits for has ended. Throws Refuted.
  void run();

  [[nodiscard]] const RelativeExpressions& expressions() const { return expressions_; }
  [[nodiscard]] const RelativeMemory& memory() const { return memory_; }
  /// As Execution::levels.
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
