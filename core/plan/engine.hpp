// Runs a plan: a step starts as soon as all steps that it waits for have ended. All executors share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/plan.hpp"

namespace circoll {

/// The progress of one execution of a plan. Reusable: start() any number of times; allocates only in the constructor.
///
/// The transport must have `bool begin(StepIndex)`, which starts a message, a reduce or a copy and returns true if it
/// has ended already. It reports each step that ends later by completed(StepIndex). Not thread-safe.
///
/// Among the steps that are ready, the engine begins messages first. So no message that other ranks wait for waits for
/// a copy.
class Engine {
 public:
  explicit Engine(const Plan& plan) : plan_(&plan), waiting_(plan.steps.size()), ready_(plan.steps.size()) {}

  /// Begins an execution: every step that waits for nothing is started.
  template <typename Transport>
  void start(Transport& transport) {
    reset();
    begin_ready(transport);
  }

  /// Begins an execution that goes another way until start_after() or end().
  void hold() { remaining_ = plan_->steps.size(); }
  /// Takes an execution over. Steps have ended in an order that the dependencies allow: for_each_ended(f) calls
  /// f(step) for each of them. The others have not been begun.
  template <typename Transport, typename ForEachEnded>
  void start_after(Transport& transport, const ForEachEnded& for_each_ended) {
    reset();
    for_each_ended([&](StepIndex step) {
      --remaining_;
      for (const StepIndex next : plan_->dependencies.successors(step)) --waiting_[next];
    });
    for_each_ended([&](StepIndex step) { waiting_[step] = ended; });
    begin_ready(transport);
  }
  /// All steps have ended.
  void end() { remaining_ = 0; }

  /// Takes note that a step has ended, and starts the steps that waited for it.
  template <typename Transport>
  void completed(Transport& transport, StepIndex step) {
    finish(step);
    drain(transport);
  }

  [[nodiscard]] bool done() const { return remaining_ == 0; }
  /// True if a step has been begun, in an execution that the engine has gone on with. It may have ended.
  [[nodiscard]] bool has_begun(StepIndex step) const { return waiting_[step] == 0 || waiting_[step] == ended; }

 private:
  static constexpr std::uint32_t ended = ~std::uint32_t{0};

  void reset() {
    std::copy(plan_->dependencies.in_degree.begin(), plan_->dependencies.in_degree.end(), waiting_.begin());
    remaining_ = plan_->steps.size();
    head_ = tail_ = 0;
    local_head_ = local_tail_ = plan_->steps.size();
  }

  void add_ready(StepIndex step) {
    if (is_message(plan_->steps[step].kind)) {
      ready_[tail_++] = step;
    } else {
      ready_[--local_tail_] = step;
    }
  }

  template <typename Transport>
  void begin_ready(Transport& transport) {
    for (StepIndex step = 0; step < plan_->steps.size(); ++step) {
      if (waiting_[step] == 0) add_ready(step);
    }
    drain(transport);
  }

  void finish(StepIndex step) {
    --remaining_;
    for (const StepIndex next : plan_->dependencies.successors(step)) {
      if (--waiting_[next] == 0) add_ready(next);
    }
  }

  template <typename Transport>
  void drain(Transport& transport) {
    while (head_ != tail_ || local_head_ != local_tail_) {
      const StepIndex step = head_ != tail_ ? ready_[head_++] : ready_[--local_head_];
      if (plan_->steps[step].empty || transport.begin(step)) finish(step);
    }
  }

  const Plan* plan_;
  std::vector<std::uint32_t> waiting_;
  std::vector<StepIndex> ready_;  // each step enters once, so a plain array serves as two queues, one from each end:
  std::size_t head_ = 0;          // messages are in [head_, tail_),
  std::size_t tail_ = 0;
  std::size_t local_head_ = 0;  // and what this rank does alone in [local_tail_, local_head_), the oldest last
  std::size_t local_tail_ = 0;
  std::size_t remaining_ = 0;
};

}  // namespace circoll
