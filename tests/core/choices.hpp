// Calls of an allreduce, the choice of a policy for a call, and rules to choose by.
#pragma once

#include <string>
#include <string_view>

#include "circoll/select.hpp"

namespace circoll {

inline constexpr OperatorTraits commuting{.commutative = true, .idempotent = false};
inline constexpr OperatorTraits ordered{.commutative = false, .idempotent = false};

inline CallFacts allreduce_of(Rank p, Count bytes, OperatorTraits op = commuting, bool exact = false) {
  return {.collective = Collective::allreduce, .p = p, .bytes = bytes, .op = op, .exact_op = exact};
}

inline std::string chosen(const Policy& policy, const CallFacts& facts) {
  const Decision decision = policy.decide(facts);
  return decision.selection ? std::string(decision.selection->algorithm->name) : "native";
}

inline constexpr std::string_view sample_rules = R"({
  "circoll_rules": 1,
  "about": "for tests",
  "allreduce": [
    {"op": "noncommutative", "use": "nonoverlapping:segments=2"},
    {"p": [1, 8], "bytes": [0, "4Ki"], "op": "commutative", "use": "recursive_doubling"},
    {"p": [1, 8], "bytes": ["4Ki"], "op": "commutative", "use": "segmented_ring:segment=1Ki"},
    {"p": [8], "op": "commutative", "use": "native"}
  ],
  "bcast": [
    {"p": [4, 5], "use": "bcast/pipeline:segments=3"},
    {"otherwise": "binomial"}
  ],
  "barrier": [{"use": "auto"}]
}
)";

}  // namespace circoll
