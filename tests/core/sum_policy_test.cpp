// Stages of sums with bits of their own have the algorithms of other calls, and are never native.
#include "interpose/sum_policy.hpp"

#include <gtest/gtest.h>

#include "select/profile.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

using interpose::SumPolicy;

CallFacts allgather(Rank p, Count bytes) { return facts_of(Collective::allgather, p, bytes, Op::sum, Type::byte); }

/// A profile in which an allgather of four ranks uses `use`.
std::string profile_of_allgather(const std::string& use) {
  return R"({"circoll_rules": 1, "profile": {"version": 1, "library": "Open MPI 4.1.4", "processor": "AMD EPYC",
    "measured": [{"ranks": 4, "processors": 4, "launches": 5, "circoll": "0.1", "date": "2026-01-02", "host": "n1"}]},
    "allgather": [{"p": [4, 5], "nodes": [1, 2], "bytes": [0, 65536], "use": ")" +
         use + R"("}, {"otherwise": "auto"}]})";
}

class SumPolicies : public testing::Test {
 protected:
  [[nodiscard]] Decision by(const Policy* policy, const CallFacts& facts) const {
    SumPolicy::Policies policies{};
    policies[static_cast<std::size_t>(Collective::allgather)] = policy;
    return SumPolicy(policies, *model_).decide(facts);
  }

  const std::unique_ptr<const Policy> model_ = make_policy("auto");
};

TEST_F(SumPolicies, FollowTheProfile) {
  CallFacts facts = allgather(4, 1024);
  facts.cores = 4;
  facts.nodes = 1;
  const std::string model = by(nullptr, facts).selection->text();
  for (const std::string use : {"ring", "bruck", "linear"}) {
    const auto profile = select::make_profile_policy(profile_of_allgather(use), "profile.json", {});
    const Decision decision = by(profile.get(), facts);
    ASSERT_TRUE(decision.selection);
    EXPECT_EQ(decision.selection->algorithm->name, use);
    EXPECT_NE(decision.reason.find("profile profile.json:"), std::string::npos) << decision.reason;
    // A size that the profile does not know is left to the model, as for other calls.
    facts.bytes = 1 << 20;
    EXPECT_EQ(by(profile.get(), facts).selection->text(), model_->decide(facts).selection->text());
    facts.bytes = 1024;
  }
  const auto native = select::make_profile_policy(profile_of_allgather("native"), "profile.json", {});
  const Decision decision = by(native.get(), facts);
  ASSERT_TRUE(decision.selection);
  EXPECT_EQ(decision.selection->text(), model);
  EXPECT_NE(decision.reason.find("calls of allgather are native (profile profile.json:"), std::string::npos)
      << decision.reason;
  EXPECT_NE(decision.reason.find("), which a part of a sum cannot be; "), std::string::npos) << decision.reason;
}

TEST_F(SumPolicies, FollowRulesAndNames) {
  const auto rules = make_rules_policy(R"({"circoll_rules": 1, "allgather": [{"otherwise": "bruck"}]})", "rules.json");
  EXPECT_EQ(by(rules.get(), allgather(4, 1024)).selection->algorithm->name, "bruck");
  const auto named = make_fixed_policy(parse_selection("allgather/ring"));
  EXPECT_EQ(by(named.get(), allgather(4, 1024)).selection->algorithm->name, "ring");
  // An algorithm of pairs cannot serve three ranks.
  const auto pairs = make_fixed_policy(parse_selection("allgather/neighbor_exchange"));
  EXPECT_EQ(by(pairs.get(), allgather(4, 1024)).selection->algorithm->name, "neighbor_exchange");
  const Decision decision = by(pairs.get(), allgather(3, 1024));
  EXPECT_EQ(decision.selection->text(), by(nullptr, allgather(3, 1024)).selection->text());
  EXPECT_EQ(by(nullptr, allgather(3, 1024)).reason.find("calls of allgather are native, which a part of a sum"), 0U);
}

}  // namespace
}  // namespace circoll
