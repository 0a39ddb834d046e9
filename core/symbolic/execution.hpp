// The symbolic execution: all ranks' schedules at once, on expressions instead of data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "circoll/dependencies.hpp"
#include "schedule/matching.hpp"
#include "schedule/walker.hpp"
#include "symbolic/expressions.hpp"
#include "symbolic/memory.hpp"

namespace circoll::symbolic {

/// Somebody who sees what happens to values. It is told before they are stored.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The value of a block arrives at a rank, to be stored in a buffer.
  virtual void arrived(Rank rank, std::int32_t buffer, Block block, Value value) = 0;
  /// A rank copies a value into a buffer.
  virtual void copied(Rank rank, std::int32_t buffer, Block block, Value value) = 0;
  /// A rank combines two values.
  virtual void combined(Rank rank, Value left, Value right) = 0;

 protected:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
};

/// One execution under the rendezvous rule, by which a message runs when both its ends can. An order exists if and only
/// if the steps cannot deadlock even without any buffering. A copy goes on by itself.
class Execution {
 public:
  /// Schedules, matching and dependencies must outlive it. `at_least_once` allows a contribution to count more often.
  Execution(std::span<const Schedule> ranks, const Matching& matching, const std::vector<Dependencies>& dependencies,
            bool at_least_once);

  /// The same in the memory that another execution has left. Buffers of the schedules before come first among those of
  /// the new ones.
  Execution(std::span<const Schedule> ranks, const Matching& matching, const std::vector<Dependencies>& dependencies,
            const Execution& before);

  /// Runs every step once everything that it waits for has ended. Throws Refuted.
  void run();

  /// True for a step that may run now; asked for either end of a message.
  using Gate = std::function<bool(StepOfRank)>;
  /// Runs all steps that may run and wait for none that may not. Sends to ranks of `deaf` end at once, and arrive
  /// nowhere. Throws Refuted.
  void run_while(const Gate& gate, const std::vector<bool>& deaf = {});

  /// A step that could run, but for the gate or its other end, and for which f(step) is true.
  template <typename F>
  [[nodiscard]] std::optional<StepOfRank> find_ready(F&& f) const {
    for (const StepOfRank step : parked_) {
      if (f(step)) return step;
    }
    for (Rank r = 0; r < size(); ++r) {
      for (StepIndex i = 0; i < of(r).steps.size(); ++i) {
        if (posted_[static_cast<std::size_t>(r)][i] && !ended(r, i) && f(StepOfRank{r, i})) return StepOfRank{r, i};
      }
    }
    return std::nullopt;
  }
  /// Ends a send that find_ready() has found. Its message arrives nowhere.
  void lose(StepOfRank send);
  /// Leaves nothing where a step writes that has not ended.
  void tear(Rank rank, StepIndex step);

  /// Tells somebody what happens from now on; nullptr: nobody.
  void observe(Observer* observer) { observer_ = observer; }

  [[nodiscard]] Expressions& expressions() { return expressions_; }
  [[nodiscard]] const Expressions& expressions() const { return expressions_; }
  [[nodiscard]] const Memory& memory(Rank rank) const { return memories_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool ended(Rank rank, StepIndex step) const { return ended_[static_cast<std::size_t>(rank)][step]; }
  /// The longest chain of messages that have been sent because the one before had been received, once it has run.
  [[nodiscard]] std::int64_t levels() const { return levels_; }
  /// The value in a slot of a rank's memory, once it has run; `undefined` if there is none.
  [[nodiscard]] Value value(Rank rank, std::int32_t buffer, Slot slot) const {
    return memory(rank).load(expressions_, buffer, slot);
  }

 private:
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
  void go(const Gate* gate, const std::vector<bool>& deaf);
  void finish(StepOfRank done);
  [[noreturn]] void report_deadlock() const;
  /// The values of the next n <= left() slots of a walker, in a buffer that the next call reuses.
  std::span<const Value> load(Rank r, StepIndex i, const Walker& w, std::int64_t n, std::vector<Value>& buffer);
  void enter(Rank r, Operand o);
  void transfer(StepOfRank from, StepOfRank to);
  void local(Rank r, StepIndex i);
  void copy(Rank r, StepIndex i);
  void reduce(Rank r, StepIndex i);

  std::span<const Schedule> ranks_;
  const Matching* matching_;
  const std::vector<Dependencies>* dependencies_;
  Observer* observer_ = nullptr;
  bool at_least_once_;
  Expressions expressions_;
  std::vector<Memory> memories_;
  std::vector<std::vector<std::uint32_t>> waiting_;
  std::vector<std::vector<bool>> posted_;
  std::vector<std::vector<bool>> ended_;
  /// The longest chain of messages that each step of each rank has waited for. A receive ends its own.
  std::vector<std::vector<std::int64_t>> chain_;
  std::int64_t levels_ = 0;
  std::int64_t remaining_ = 0;
  std::vector<StepOfRank> ready_;
  std::vector<StepOfRank> parked_;  // ready, but for the gate
  std::vector<Value> left_values_;
  std::vector<Value> right_values_;
};

}  // namespace circoll::symbolic
