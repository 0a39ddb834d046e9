// Rules made from measurements: their choices, and their reading.
#include "measured/tuning.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

Measurement row(Collective collective, const std::string& algorithm, Rank p, Count bytes, double median_us) {
  return {.collective = collective,
          .algorithm = algorithm,
          .served_by = algorithm,
          .p = p,
          .bytes = bytes,
          .reps = 10,
          .median_s = median_us * 1e-6};
}

Launch launch(std::vector<Measurement> rows, const std::string& type = "byte", const std::string& op = "bor") {
  return {.source = "test.json",
          .setting = type + ", " + op + ", root 0, started by clock",
          .type = type,
          .op = op,
          .rows = std::move(rows)};
}

/// "native", "auto" (the model's choice), or the algorithm that a rule of the policy gives.
std::string choice(const Policy& policy, Collective collective, Rank p, Count bytes, Op op = Op::bor,
                   Type type = Type::byte) {
  const Decision decision = policy.decide(facts_of(collective, p, bytes, op, type));
  if (!decision.selection) return "native";
  if (!decision.candidates.empty()) return "auto";
  return std::string(decision.selection->algorithm->name);
}

std::unique_ptr<const Policy> tuned(const std::vector<Launch>& launches, const TuneOptions& options = {}) {
  return make_rules_policy(rules_json(tune(launches, options), measured_operator(launches.front())), "rules");
}

TEST(Tuning, ChoosesTheFastestAndCutsAtTheGeometricMean) {
  const auto policy = tuned({launch({
      row(Collective::allreduce, "native", 5, 1024, 10),
      row(Collective::allreduce, "ring", 5, 1024, 20),
      row(Collective::allreduce, "native", 5, 4096, 50),
      row(Collective::allreduce, "ring", 5, 4096, 30),
      row(Collective::allreduce, "native", 5, 65536, 500),
      row(Collective::allreduce, "ring", 5, 65536, 300),
  })});
  const auto at = [&](Count bytes) { return choice(*policy, Collective::allreduce, 5, bytes); };
  EXPECT_EQ(at(0), "native");
  EXPECT_EQ(at(2047), "native");
  EXPECT_EQ(at(2048), "ring");  // sqrt(1024 * 4096)
  EXPECT_EQ(at(Count{1} << 40), "ring");
  EXPECT_EQ(choice(*policy, Collective::allreduce, 4, 65536), "auto");
  EXPECT_EQ(choice(*policy, Collective::allreduce, 6, 65536), "auto");
  EXPECT_EQ(choice(*policy, Collective::bcast, 5, 65536), "auto");
}

TEST(Tuning, NeighboursWithOneChoiceAreOneRule) {
  const std::vector<Launch> launches{
      launch({row(Collective::bcast, "binomial", 4, 8, 1), row(Collective::bcast, "binomial", 4, 64, 2),
              row(Collective::bcast, "binomial", 8, 64, 2)})};
  const auto rules = nlohmann::json::parse(rules_json(tune(launches), {}));
  ASSERT_EQ(rules.at("bcast").size(), 3U);
  EXPECT_EQ(rules.at("bcast")[0].at("p"), (nlohmann::json{4, 5}));
  EXPECT_FALSE(rules.at("bcast")[0].contains("bytes"));
  EXPECT_EQ(rules.at("bcast")[2].at("otherwise"), "auto");
}

TEST(Tuning, NativeStaysWithinTheMargin) {
  const std::vector<Launch> launches{
      launch({row(Collective::bcast, "native", 4, 8, 10.4), row(Collective::bcast, "binomial", 4, 8, 10)})};
  EXPECT_EQ(choice(*tuned(launches), Collective::bcast, 4, 8), "native");
  EXPECT_EQ(choice(*tuned(launches, {.margin = 0.01}), Collective::bcast, 4, 8), "binomial");
}

TEST(Tuning, MediansOfLaunchesDecide) {
  const auto one = [](double binomial) {
    return launch({row(Collective::bcast, "native", 4, 8, 10), row(Collective::bcast, "binomial", 4, 8, binomial)});
  };
  EXPECT_EQ(choice(*tuned({one(5), one(6), one(90)}), Collective::bcast, 4, 8), "binomial");
  EXPECT_EQ(choice(*tuned({one(5), one(60), one(90)}), Collective::bcast, 4, 8), "native");
}

TEST(Tuning, AskedForAllLaunchesNativeStaysWhereItWonOne) {
  const auto of_launch = [](double native, double binomial, double linear) {
    return launch({row(Collective::bcast, "native", 4, 8, native), row(Collective::bcast, "binomial", 4, 8, binomial),
                   row(Collective::bcast, "linear", 4, 8, linear)});
  };
  const auto chosen = [](const std::vector<Launch>& launches, bool in_every_launch) {
    return choice(*tuned(launches, {.in_every_launch = in_every_launch}), Collective::bcast, 4, 8);
  };
  // The fastest algorithm by its median lost once, and the second one lost never.
  const std::vector<Launch> second{of_launch(10, 12, 8), of_launch(30, 12, 20), of_launch(30, 12, 20)};
  EXPECT_EQ(chosen(second, false), "binomial");
  EXPECT_EQ(chosen(second, true), "linear");
  const std::vector<Launch> both{of_launch(10, 12, 11), of_launch(30, 12, 20), of_launch(30, 12, 20)};
  EXPECT_EQ(chosen(both, false), "binomial");
  EXPECT_EQ(chosen(both, true), "native");
  // Faster in every launch, but not by the margin.
  const std::vector<Launch> margin{of_launch(10, 9.8, 11), of_launch(30, 29.5, 40)};
  EXPECT_EQ(chosen(margin, true), "native");
  // An algorithm that is as fast is not faster.
  EXPECT_EQ(chosen({of_launch(10, 10, 10), of_launch(30, 12, 12)}, true), "native");
}

TEST(Tuning, AllLaunchesOfSizesThatCanNotDecide) {
  const auto of_launch = [](double linear, double binomial) {
    return launch({row(Collective::gatherv, "native", 4, 8, 10), row(Collective::gatherv, "native", 4, 1024, 100),
                   row(Collective::gatherv, "linear", 4, 8, linear), row(Collective::gatherv, "linear", 4, 1024, 60),
                   row(Collective::gatherv, "binomial", 4, 8, binomial),
                   row(Collective::gatherv, "binomial", 4, 1024, 50)});
  };
  // The worst launch of binomial: 10 / 40 and 100 / 50.
  const std::vector<Launch> launches{of_launch(8, 3), of_launch(9, 40), of_launch(8, 3)};
  EXPECT_EQ(choice(*tuned(launches), Collective::gatherv, 4, 0), "binomial");
  EXPECT_EQ(choice(*tuned(launches, {.in_every_launch = true}), Collective::gatherv, 4, 0), "linear");
}

TEST(Tuning, WithoutNativeThereIsNothingToBeFasterThan) {
  const std::vector<Launch> launches{
      launch({row(Collective::bcast, "linear", 4, 8, 20), row(Collective::bcast, "binomial", 4, 8, 10)})};
  EXPECT_EQ(choice(*tuned(launches, {.in_every_launch = true}), Collective::bcast, 4, 8), "binomial");
}

// circoll-bench counts one block of an allgather, rules the whole vector.
TEST(Tuning, BlocksBecomeVectors) {
  const auto policy = tuned(
      {launch({row(Collective::allgather, "native", 4, 16, 1), row(Collective::allgather, "ring", 4, 16, 2),
               row(Collective::allgather, "native", 4, 1024, 2), row(Collective::allgather, "ring", 4, 1024, 1)})});
  EXPECT_EQ(choice(*policy, Collective::allgather, 4, 511), "native");  // sqrt(64 * 4096) is 512
  EXPECT_EQ(choice(*policy, Collective::allgather, 4, 512), "ring");
}

TEST(Tuning, WhereSizesCanNotDecideTheirGeometricMeanDoes) {
  const auto policy = tuned({launch({
      row(Collective::gatherv, "native", 4, 8, 1),        // mean 10
      row(Collective::gatherv, "linear", 4, 8, 2),        // mean 6
      row(Collective::gatherv, "binomial", 4, 8, 0.001),  // not measured at both
      row(Collective::gatherv, "native", 4, 1024, 100), row(Collective::gatherv, "linear", 4, 1024, 18),
      row(Collective::barrier, "dissemination", 4, 0, 3), row(Collective::alltoallv, "native", 4, 8, 3),
      row(Collective::alltoallv, "bruck", 4, 8, 1),  // no policy may: blocks go through other ranks
  })});
  EXPECT_EQ(choice(*policy, Collective::gatherv, 4, 0), "linear");
  EXPECT_EQ(choice(*policy, Collective::barrier, 4, 0), "dissemination");
  EXPECT_EQ(choice(*policy, Collective::alltoallv, 4, 0), "native");
}

TEST(Tuning, WrongOrSeldomMeasuredAlgorithmsAreNoCandidates) {
  Measurement wrong = row(Collective::bcast, "chain", 4, 8, 1);
  wrong.wrong = true;
  Launch first = launch({row(Collective::bcast, "native", 4, 8, 10), wrong, row(Collective::bcast, "linear", 4, 8, 2)});
  const Launch second = launch({row(Collective::bcast, "native", 4, 8, 10)});
  EXPECT_EQ(choice(*tuned({first, second}), Collective::bcast, 4, 8), "native");
}

// Rules are for operators like the measured one, and never promise more than an algorithm can do for others.
TEST(Tuning, RulesKeepToOperatorsThatTheAlgorithmServes) {
  for (const Algorithm* algorithm : algorithms_of(Collective::allreduce)) {
    for (const auto& [op, type] : {std::pair(Op::bor, Type::byte), std::pair(Op::sum, Type::int32),
                                   std::pair(Op::sum, Type::float64), std::pair(Op::max, Type::float32)}) {
      const std::string name(algorithm->name);
      const auto policy =
          tuned({launch({row(Collective::allreduce, "native", 8, 8, 10), row(Collective::allreduce, name, 8, 8, 1)},
                        std::string(to_string(type)), std::string(to_string(op)))});
      const std::string chosen = choice(*policy, Collective::allreduce, 8, 8, op, type);
      const bool may =
          why_not({algorithm, Collective::allreduce, {}}, facts_of(Collective::allreduce, 8, 8, op, type), false)
              .empty();
      // Some algorithms may be chosen but are in no rule: commutative and idempotent are no class together with exact.
      EXPECT_TRUE(chosen == name || chosen == "native") << name;
      if (!may) {
        EXPECT_EQ(chosen, "native") << name;
      } else if (!algorithm->needs.commutative || algorithm->guarantees.same_bits) {
        EXPECT_EQ(chosen, name);
      }
    }
  }
}

TEST(Tuning, AutoIsTheModelsChoiceOnly) {
  Launch one = launch({row(Collective::bcast, "native", 4, 8, 10), row(Collective::bcast, "auto", 4, 8, 1)});
  EXPECT_EQ(choice(*tuned({one}), Collective::bcast, 4, 8), "auto");
  one.default_policy = false;
  EXPECT_EQ(choice(*tuned({one}), Collective::bcast, 4, 8), "native");
}

TEST(Tuning, StartingTogetherMayDifferBetweenNumbersOfRanks) {
  Launch crowded = launch({row(Collective::bcast, "binomial", 64, 8, 10)});
  crowded.setting = "byte, bor, root 0, started by barrier";
  const Launch roomy = launch({row(Collective::bcast, "chain", 4, 8, 10)});
  const auto policy = tuned({roomy, crowded});
  EXPECT_EQ(choice(*policy, Collective::bcast, 64, 8), "binomial");
  EXPECT_EQ(choice(*policy, Collective::bcast, 4, 8), "chain");
  crowded.rows[0].p = 4;
  EXPECT_THROW((void)tune({roomy, crowded}), Error);
  Launch other = roomy;
  other.op = "sum";
  EXPECT_THROW((void)tune({roomy, other}), Error);
}

TEST(Tuning, HostileInput) {
  EXPECT_THROW((void)tune({}), Error);
  EXPECT_THROW((void)tune({launch({row(Collective::bcast, "no_such", 4, 8, 1)})}), Error);
  EXPECT_THROW((void)tune({launch({row(Collective::allgather, "ring", Rank{1} << 40, Count{1} << 40, 1)})}), Error);
  EXPECT_THROW((void)tune({launch({}, "thing", "bor")}), Error);
  constexpr Rank most = std::numeric_limits<Rank>::max(), huge = most - 1;
  EXPECT_THROW((void)tuned({launch({row(Collective::bcast, "native", most, 8, 1)})}), Error);
  const auto policy = tuned(
      {launch({row(Collective::bcast, "native", huge, most - 2, 1), row(Collective::bcast, "native", huge, 0, 2),
               row(Collective::bcast, "binomial", huge, 0, 1), row(Collective::bcast, "binomial", huge, most, 1)})});
  EXPECT_EQ(choice(*policy, Collective::bcast, huge, 0), "binomial");
  EXPECT_EQ(choice(*policy, Collective::bcast, huge, most - 2), "native");
}

TEST(RulesWriter, RefusesWhatRulesCanNotSay) {
  const RuleCell cell{.collective = Collective::gatherv, .p = 4, .use = "linear"};
  EXPECT_THROW((void)rules_json({cell, cell}, {}), Error);
  EXPECT_THROW((void)rules_json({{.collective = Collective::bcast, .p = 4, .use = "no_such"}}, {}), Error);
  EXPECT_THROW((void)rules_json({{.collective = Collective::bcast, .p = 0, .use = "native"}}, {}), Error);
  // The algorithm needs an even number of ranks.
  EXPECT_THROW((void)rules_json({{.collective = Collective::allgather, .p = 7, .use = "neighbor_exchange"}}, {}),
               Error);
}

TEST(RulesWriter, TextIsQuoted) {
  const std::string nasty = "a \"b\"\n\\ \xff";
  const std::string rules =
      rules_json({{.collective = Collective::bcast, .p = 4, .use = "native", .about = nasty}}, {}, {.about = nasty});
  EXPECT_NO_THROW((void)make_rules_policy(rules, "rules"));
}

TEST(RulesWriter, OtherwiseMayBeForAllCollectives) {
  const auto policy = make_rules_policy(rules_json({}, {}, {.otherwise = "native", .all_collectives = true}), "rules");
  for (const Collective collective : all_collectives) EXPECT_EQ(choice(*policy, collective, 4, 8), "native");
}

}  // namespace
}  // namespace circoll
