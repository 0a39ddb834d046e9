// The progress of one rank's plan in one process.
#pragma once

#include <vector>

#include "circoll/plan.hpp"
#include "exec/rendezvous/receives.hpp"
#include "plan/engine.hpp"

namespace circoll::local {

/// The steps that an execution may begin, those that it has begun, and those that have ended. One entry for each.
struct Watch {
  std::vector<bool> allowed;
  std::vector<bool> begun;
  std::vector<bool> ended;
};

/// The progress of a plan's execution and the state of its receives: it runs again and again without allocating. The
/// plan must outlive it.
class Execution {
 public:
  explicit Execution(const Plan& plan) : plan_(&plan), engine_(plan), receives_(plan) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] rendezvous::Receives& receives() { return receives_; }
  /// Watches the steps of executions; nullptr: not. The watch must outlive them.
  void watch(Watch* watch) { watch_ = watch; }
  [[nodiscard]] bool may_begin(StepIndex step) const { return watch_ == nullptr || watch_->allowed[step]; }
  void note_begun(StepIndex step) {
    if (watch_ != nullptr) watch_->begun[step] = true;
  }
  void note_ended(StepIndex step) {
    if (watch_ != nullptr) watch_->ended[step] = true;
  }
  [[nodiscard]] std::size_t memory_bytes() const {
    return sizeof(Execution) + receives_.memory_bytes() +
           plan_->steps.size() * (sizeof(std::uint32_t) + sizeof(StepIndex));
  }

 private:
  const Plan* plan_;
  Engine engine_;
  rendezvous::Receives receives_;
  Watch* watch_ = nullptr;
};

}  // namespace circoll::local
