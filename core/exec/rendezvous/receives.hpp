// The receives of one rank's plan, and the letters that have come for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/rendezvous/mailbox.hpp"

namespace circoll::rendezvous {

/// A receive waits for its letter, and a letter may come before its receive has begun.
struct Receive {
  Rank source = 0;
  std::uint32_t tag = 0;
  StepIndex step = 0;
  Count elements = 0;
  bool begun = false;
  LetterRef letter{};
};

/// All receives of a plan. Allocates in the constructor only.
class Receives {
 public:
  explicit Receives(const Plan& plan) : of_step_(plan.steps.size()) {
    for (StepIndex step = 0; step < plan.steps.size(); ++step) {
      const PlanStep& s = plan.steps[step];
      if (s.empty) continue;
      if (is_receive(s.kind))
        all_.push_back(Receive{.source = s.peer, .tag = s.tag, .step = step, .elements = s.elements});
      if (s.kind == StepKind::send) ++sends_;
    }
    std::sort(all_.begin(), all_.end(), [](const Receive& a, const Receive& b) {
      return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
    });
    for (std::size_t i = 0; i < all_.size(); ++i) of_step_[all_[i].step] = static_cast<std::uint32_t>(i);
  }

  /// Forgets the letters of the execution before.
  void reset() {
    for (Receive& receive : all_) {
      receive.begun = false;
      receive.letter = {};
    }
  }
  [[nodiscard]] Receive& of_step(StepIndex step) { return all_[of_step_[step]]; }
  /// The receive of the tag-th message from a rank; nullptr if the plan has none.
  [[nodiscard]] Receive* find(Rank source, std::uint32_t tag) {
    const auto at = std::lower_bound(
        all_.begin(), all_.end(), std::pair(source, tag),
        [](const Receive& r, const std::pair<Rank, std::uint32_t>& key) { return std::pair(r.source, r.tag) < key; });
    return at != all_.end() && at->source == source && at->tag == tag ? &*at : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The sends of the plan, each of which needs a letter.
  [[nodiscard]] std::size_t sends() const { return sends_; }
  [[nodiscard]] std::size_t memory_bytes() const {
    return all_.capacity() * sizeof(Receive) + of_step_.capacity() * sizeof(std::uint32_t);
  }

 private:
  std::vector<Receive> all_;
  std::vector<std::uint32_t> of_step_;  // valid at receives only
  std::size_t sends_ = 0;
};

}  // namespace circoll::rendezvous
