// The progress of one rank's plan in one process.
#pragma once

#include <vector>

#include "circoll/plan.hpp"
#include "exec/rendezvous/receives.hpp"
#include "plan/engine.hpp"

namespace circoll::local {

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
  /// Keeps in `ended`, which has an entry for each step, which steps have ended; nullptr: nowhere.
  void record(std::vector<bool>* ended) { ended_ = ended; }
  void note_ended(StepIndex step) {
    if (ended_ != nullptr) (*ended_)[step] = true;
  }
  [[nodiscard]] std::size_t memory_bytes() const {
    return sizeof(Execution) + receives_.memory_bytes() +
           plan_->steps.size() * (sizeof(std::uint32_t) + sizeof(StepIndex));
  }

 private:
  const Plan* plan_;
  Engine engine_;
  rendezvous::Receives receives_;
  std::vector<bool>* ended_ = nullptr;
};

}  // namespace circoll::local
