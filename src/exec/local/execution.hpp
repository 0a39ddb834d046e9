// A bound plan with everything that one rank needs to run it again and again without allocating.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "plan/engine.hpp"

namespace circoll::local {

class Endpoint;

/// A plan, the progress of its execution, and the state of its receives. Neither copied nor moved: the engine
/// points into it.
class Execution {
 public:
  /// A receive waits for its message, and a message may arrive before its receive is started.
  struct Receive {
    Rank source = 0;
    std::uint32_t tag = 0;
    StepIndex step = 0;
    bool posted = false;
    Endpoint* sender = nullptr;  ///< null until the message has arrived
    StepIndex sender_step = 0;
  };

  explicit Execution(Plan plan) : plan_(std::move(plan)), engine_(plan_), receive_of_step_(plan_.steps.size()) {
    for (StepIndex step = 0; step < plan_.steps.size(); ++step) {
      const PlanStep& s = plan_.steps[step];
      if (s.empty) continue;
      if (s.kind == StepKind::recv) receives_.push_back(Receive{.source = s.peer, .tag = s.tag, .step = step});
      if (s.kind == StepKind::send) ++sends_;
    }
    std::sort(receives_.begin(), receives_.end(), [](const Receive& a, const Receive& b) {
      return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
    });
    for (std::size_t i = 0; i < receives_.size(); ++i) {
      receive_of_step_[receives_[i].step] = static_cast<std::uint32_t>(i);
    }
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Engine& engine() { return engine_; }
  /// Events that its messages can cause at this rank.
  [[nodiscard]] std::size_t events() const { return receives_.size() + sends_; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return plan_.memory_bytes() + receives_.capacity() * sizeof(Receive) +
           plan_.steps.size() * (sizeof(std::uint32_t) * 2 + sizeof(StepIndex));
  }

  void reset() {
    for (Receive& r : receives_) {
      r.posted = false;
      r.sender = nullptr;
    }
  }
  [[nodiscard]] Receive& receive_of(StepIndex step) { return receives_[receive_of_step_[step]]; }
  /// The receive of the tag-th message from a rank; nullptr if the schedule has none.
  [[nodiscard]] Receive* find(Rank source, std::uint32_t tag) {
    const auto at = std::lower_bound(
        receives_.begin(), receives_.end(), std::pair(source, tag),
        [](const Receive& r, const std::pair<Rank, std::uint32_t>& key) { return std::pair(r.source, r.tag) < key; });
    return at != receives_.end() && at->source == source && at->tag == tag ? &*at : nullptr;
  }

 private:
  Plan plan_;
  Engine engine_;
  std::vector<Receive> receives_;
  std::vector<std::uint32_t> receive_of_step_;  // valid at receives only
  std::size_t sends_ = 0;
};

}  // namespace circoll::local
