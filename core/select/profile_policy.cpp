// The policy "auto" where a profile was found.
#include "circoll/error.hpp"
#include "select/policies.hpp"
#include "select/profile.hpp"

namespace circoll::select {
namespace {

class ProfilePolicy final : public PolicyBase {
 public:
  ProfilePolicy(std::string_view text, const std::string& source, const PolicyOptions& options)
      : PolicyBase("auto", options),
        head_(read_profile_head(text, source)),
        rules_(make_rules_policy(text, source, options)),
        source_(source) {}

  [[nodiscard]] Decision decide(const CallFacts& facts) const override {
    if (const std::string why = outside(facts); !why.empty()) return fall_back(facts, why, {});
    Decision decision = rules_->decide(facts);
    constexpr std::string_view rule = "rule ";
    const bool by_rule = decision.reason.starts_with(rule);
    decision.reason = "profile " + decision.reason.substr(by_rule ? rule.size() : 0);
    decision.policy = name();
    if (!decision.selection) return may_be_native(facts) ? decision : fall_back(facts, same_bits(decision), {});
    if (decision.candidates.empty()) {
      decision.candidates = decide_by_model(name(), facts, options(), traffic()).candidates;
    }
    return decision;
  }

 private:
  /// Why the profile says nothing about a call; empty if it may.
  [[nodiscard]] std::string outside(const CallFacts& facts) const {
    const std::string here = "profile " + source_ + " ";
    if (nodes_of(facts) != 1) return here + "is for one node";
    const ProfileRanks* const ranks = head_.find(facts.p);
    if (ranks == nullptr) return here + "has nothing for " + std::to_string(facts.p) + " ranks";
    if (ranks->crowded == facts.crowded) return "";
    return here + (facts.crowded ? "was measured with a processor for every rank"
                                 : "was measured with more ranks than processors");
  }

  [[nodiscard]] bool may_be_native(const CallFacts& facts) const {
    return facts.collective != Collective::allreduce || facts.exact_op || options().allow_rank_divergence;
  }

  static std::string same_bits(const Decision& decision) {
    return decision.reason + " says native, which may give ranks different bits";
  }

  ProfileHead head_;
  std::unique_ptr<const Policy> rules_;
  std::string source_;
};

}  // namespace

std::unique_ptr<const Policy> make_profile_policy(std::string_view text, const std::string& source,
                                                  const PolicyOptions& options) {
  return std::make_unique<ProfilePolicy>(text, source, options);
}

}  // namespace circoll::select
