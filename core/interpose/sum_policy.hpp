// The policy of sums with bits of their own (CIRCOLL_SUM). It knows no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "circoll/select.hpp"

namespace circoll::interpose {

/// Gives each stage of a sum the algorithm that calls of its collective have. A stage cannot be native, so that the
/// model chooses where they are.
class SumPolicy final : public Policy {
 public:
  /// By collective; nullptr: calls of it are native.
  using Policies = std::array<const Policy*, all_collectives.size()>;

  /// All policies must outlive this one.
  SumPolicy(const Policies& of_calls, const Policy& model) : of_calls_(of_calls), model_(model) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    const Policy* const own = of_calls_[static_cast<std::size_t>(facts.collective)];
    std::string native = "native";
    if (own != nullptr) {
      Decision decision = own->decide(facts);
      if (decision.selection) return decision;
      native = "native (" + decision.reason + ")";
    }
    Decision decision = model_.decide(facts);
    decision.reason = "calls of " + std::string(to_string(facts.collective)) + " are " + native +
                      ", which a part of a sum cannot be; " + decision.reason;
    return decision;
  }
  [[nodiscard]] const Machine& machine() const override { return model_.machine(); }

 private:
  Policies of_calls_;
  const Policy& model_;
};

}  // namespace circoll::interpose
