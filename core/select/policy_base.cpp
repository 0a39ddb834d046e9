// The decisions that all policies share: a wished algorithm, the model's substitute, the native collective.
#include "select/policies.hpp"

namespace circoll::select {

std::optional<Decision> PolicyBase::take(const CallFacts& facts, const Selection& wished, const std::string& reason,
                                         std::vector<RuledOut>& ruled_out) const {
  std::string why = refusal(wished, facts);
  if (why.empty() && wished.params.contains("segment") && has_unknown_size(facts.collective)) {
    why = "segment=BYTES needs a size that all ranks know";
  }
  if (!why.empty()) {
    ruled_out.push_back({wished.id(), std::move(why)});
    return std::nullopt;
  }
  return Decision{.selection = completed(wished, facts.p, facts.bytes, options_.machine),
                  .policy = name_,
                  .reason = reason,
                  .ruled_out = ruled_out};
}

Decision PolicyBase::fall_back(const CallFacts& facts, const std::string& reason,
                               std::vector<RuledOut> ruled_out) const {
  Decision decision = decide_by_model(name_, facts, options_, traffic_);
  decision.reason = reason + "; " + decision.reason;
  for (RuledOut& other : decision.ruled_out) {
    bool known = false;
    for (const RuledOut& first : ruled_out) known = known || first.id == other.id;
    if (!known) ruled_out.push_back(std::move(other));
  }
  decision.ruled_out = std::move(ruled_out);
  return decision;
}

Decision PolicyBase::native(std::string reason, std::vector<RuledOut> ruled_out) const {
  return {.selection = std::nullopt, .policy = name_, .reason = std::move(reason), .ruled_out = std::move(ruled_out)};
}

}  // namespace circoll::select
