// The symbolic execution: all ranks' schedules at once, on expressions instead of data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/dependencies.hpp"
#include "schedule/matching.hpp"
#include "schedule/walker.hpp"
#include "verify/expressions.hpp"
#include "verify/memory.hpp"
#include "verify/subject.hpp"

namespace circoll::verify {

/// One execution under the rendezvous rule, by which a message runs when both its ends can. An order exists if and only
/// if the steps cannot deadlock even without any buffering.
class Execution {
 public:
  /// Proves what must hold before a step runs: rounds, and no two unordered steps that share memory. The dependencies
  /// are derived if none are given. Throws Refuted.
  Execution(const Subject& subject, const Matching& matching, std::span<const Dependencies> given);

  /// Runs every step once everything that it waits for has ended. Throws Refuted.
  void run();

  [[nodiscard]] Expressions& expressions() { return expressions_; }
  /// The longest chain of messages that have been sent because the one before had been received, once it has run.
  [[nodiscard]] std::int64_t levels() const { return levels_; }
  /// The value in a slot of a rank's memory, once it has run; `undefined` if there is none.
  [[nodiscard]] Value value(Rank rank, std::int32_t buffer, Slot slot) const {
    return memories_[static_cast<std::size_t>(rank)].load(expressions_, buffer, slot);
  }

 private:
  void prepare(Rank r, std::span<const Dependencies> given);
  void finish(StepOfRank done);
  [[noreturn]] void report_deadlock() const;
  /// The values of the next n <= left() slots of a walker, in a buffer that the next call reuses.
  std::span<const Value> load(Rank r, StepIndex i, const Walker& w, std::int64_t n, std::vector<Value>& buffer);
  void enter(Rank r, Operand o);
  void transfer(StepOfRank from, StepOfRank to);
  void local(Rank r, StepIndex i);
  void copy(Rank r, StepIndex i);
  void reduce(Rank r, StepIndex i);

  const Subject& subject_;
  const Matching& matching_;
  Expressions expressions_;
  std::vector<Memory> memories_;
  std::vector<Dependencies> dependencies_;
  std::vector<std::vector<std::uint32_t>> waiting_;
  std::vector<std::vector<bool>> posted_;
  /// The longest chain of messages that each step of each rank has waited for. A receive ends its own.
  std::vector<std::vector<std::int64_t>> chain_;
  std::int64_t levels_ = 0;
  std::vector<StepOfRank> ready_;
  std::vector<Value> left_values_;
  std::vector<Value> right_values_;
};

}  // namespace circoll::verify
