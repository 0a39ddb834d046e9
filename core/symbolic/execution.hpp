// The symbolic execution: all ranks' schedules at once, on expressions instead of data; and the memory of each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "circoll/dependencies.hpp"
#include "circoll/schedule.hpp"
#include "circoll/verify.hpp"
#include "schedule/matching.hpp"
#include "schedule/walker.hpp"
#include "symbolic/expressions.hpp"

namespace circoll::symbolic {

/// A claim that does not hold, and where. Thrown inside the verifier, and turned into a Refutation at its edge. Rank,
/// step and block are -1 where they mean nothing.
struct Refuted {
  Claim claim;
  Rank rank;
  std::int64_t step;
  Block block;
  std::string what;
};

/// The memory of one rank has a value per slot. Views of one storage are in the same place; the send buffer is implied.
class SymbolicMemory {
 public:
  SymbolicMemory(const Schedule& schedule, bool contributions_by_rank)
      : schedule_(&schedule),
        offset_(schedule.buffers.size(), 0),
        live_(schedule.buffers.size(), -1),
        by_rank_(contributions_by_rank) {
    std::vector<Slot> size(schedule.buffers.size(), 0);
    for (std::size_t i = 1; i < schedule.buffers.size(); ++i) {
      Slot& s = size[static_cast<std::size_t>(schedule.buffers[i].storage)];
      s = std::max(s, schedule.buffers[i].slots);
    }
    std::vector<std::size_t> start(size.size(), 0);
    std::size_t sum = 0;
    for (std::size_t i = 1; i < size.size(); ++i) {
      start[i] = sum;
      sum += static_cast<std::size_t>(size[i]);
    }
    for (std::size_t i = 1; i < offset_.size(); ++i)
      offset_[i] = start[static_cast<std::size_t>(schedule.buffers[i].storage)];
    values_.assign(sum, undefined);
  }

  /// Puts the contribution where the contract says. In the send buffer it is implied.
  void fill_input(const Expressions& expressions, const CollectiveContract& contract) {
    if (contract.input_buffer == send_buffer) return;
    for (Slot i = 0; i < contract.input_count; ++i) {
      values_[offset_[1] + static_cast<std::size_t>(contract.input_first + i)] =
          contribution(expressions, schedule_->block_of(recv_buffer, contract.input_first + i));
    }
  }

  /// Takes over the values of a memory whose buffers are the first ones of this one.
  void adopt(const SymbolicMemory& other) {
    std::copy(other.values_.begin(), other.values_.end(), values_.begin());
    std::copy(other.live_.begin(), other.live_.end(), live_.begin());
  }

  [[nodiscard]] Value contribution(const Expressions& expressions, Block block) const {
    return expressions.leaf(by_rank_ ? schedule_->shape.rank : 0, block);
  }

  [[nodiscard]] Value load(const Expressions& expressions, std::int32_t buffer, Slot slot) const {
    if (buffer == send_buffer) return contribution(expressions, schedule_->block_of(buffer, slot));
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] >= 0 && live_[storage] != buffer) return undefined;
    return values_[offset_[static_cast<std::size_t>(buffer)] + static_cast<std::size_t>(slot)];
  }

  /// Values of the next values.size() <= w.left() slots.
  void load(const Expressions& expressions, const Walker& w, std::span<Value> values) const {
    if (w.buffer() == send_buffer) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = contribution(expressions, w.block(static_cast<std::int64_t>(i)));
      }
      return;
    }
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(w.buffer())].storage);
    if (live_[storage] >= 0 && live_[storage] != w.buffer()) {
      std::fill(values.begin(), values.end(), undefined);
      return;
    }
    std::copy_n(values_.begin() + place(w), values.size(), values.begin());
  }

  /// Calls f(buffer, slot, block, value) for everything that lies in the receive buffer and in scratch memory.
  template <typename F>
  void each_value(F&& f) const {
    for (std::size_t i = 1; i < schedule_->buffers.size(); ++i) {
      const auto buffer = static_cast<std::int32_t>(i);
      const std::int32_t live = live_[static_cast<std::size_t>(schedule_->buffers[i].storage)];
      if (live >= 0 && live != buffer) continue;
      for (Slot slot = 0; slot < schedule_->buffers[i].slots; ++slot) {
        const Value value = values_[offset_[i] + static_cast<std::size_t>(slot)];
        if (value != undefined) f(buffer, slot, schedule_->block_of(buffer, slot), value);
      }
    }
  }

  /// Makes a view the live one before it is written.
  void enter(std::int32_t buffer) {
    const auto storage = static_cast<std::size_t>(schedule_->buffers[static_cast<std::size_t>(buffer)].storage);
    if (live_[storage] == buffer) return;
    if (live_[storage] >= 0) {
      const Slot old = schedule_->buffers[static_cast<std::size_t>(live_[storage])].slots;
      const Slot now = schedule_->buffers[static_cast<std::size_t>(buffer)].slots;
      const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(offset_[storage]);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(std::max(old, now)), undefined);
    }
    live_[storage] = buffer;
  }
  void store(const Walker& w, std::span<const Value> values) {
    std::copy(values.begin(), values.end(), values_.begin() + place(w));
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(const Walker& w) const {
    return static_cast<std::ptrdiff_t>(offset_[static_cast<std::size_t>(w.buffer())]) + w.slot();
  }

  const Schedule* schedule_;
  std::vector<std::size_t> offset_;  // of each buffer in values_
  std::vector<std::int32_t> live_;   // of each storage
  std::vector<Value> values_;
  bool by_rank_;
};

/// An observer of values. It is called before they are stored.
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
class SymbolicExecution {
 public:
  /// Schedules, matching and dependencies must outlive it. `at_least_once` allows a contribution to count more often.
  SymbolicExecution(std::span<const Schedule> ranks, const Matching& matching,
                    const std::vector<Dependencies>& dependencies, bool at_least_once);

  /// The same in the memory that another execution has left. Buffers of the schedules before come first among those of
  /// the new ones.
  SymbolicExecution(std::span<const Schedule> ranks, const Matching& matching,
                    const std::vector<Dependencies>& dependencies, const SymbolicExecution& before);

  /// Runs every step once everything that it waits for has ended. Throws Refuted, and what the watch throws.
  void run(const ProofWatch& watch = {});

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

  /// Sets the observer that is called from now on; nullptr: none.
  void observe(Observer* observer) { observer_ = observer; }

  [[nodiscard]] Expressions& expressions() { return expressions_; }
  [[nodiscard]] const Expressions& expressions() const { return expressions_; }
  [[nodiscard]] const SymbolicMemory& memory(Rank rank) const { return memories_[static_cast<std::size_t>(rank)]; }
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
  void go(const Gate* gate, const std::vector<bool>& deaf, const ProofWatch& watch);
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
  std::vector<SymbolicMemory> memories_;
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
