// Performance guidelines on made-up launches.
#include "measured/guidelines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

struct Time {
  std::string side;
  std::string algorithm;
  Count bytes;
  double median_us;
};

GuidelineRun run_of(const std::vector<Time>& times, Rank p = 4) {
  GuidelineRun run{.launch = {.source = "test.json",
                              .setting = "byte, bor, root 0, started by clock",
                              .type = "byte",
                              .op = "bor",
                              .rows = {}},
                   .sides = {}};
  for (const Time& time : times) {
    run.sides.push_back({.side = time.side,
                         .algorithm = time.algorithm,
                         .served_by = time.algorithm,
                         .p = p,
                         .bytes = time.bytes,
                         .reps = 9,
                         .median_s = time.median_us * 1e-6});
  }
  return run;
}

/// The runs of `launches` launches. The times of each are a little longer than those of the one before.
std::vector<GuidelineRun> runs_of(std::vector<Time> times, int launches) {
  std::vector<GuidelineRun> runs;
  for (int i = 0; i < launches; ++i) {
    runs.push_back(run_of(times));
    for (Time& time : times) time.median_us *= 1.001;
  }
  return runs;
}

std::vector<Finding> with(const std::vector<Finding>& findings, GuidelineVerdict verdict) {
  std::vector<Finding> some;
  for (const Finding& finding : findings) {
    if (finding.verdict == verdict) some.push_back(finding);
  }
  return some;
}

const std::vector<Time> slow_allreduce{{"allreduce", "native", 1024, 30}, {"reduce+bcast", "native", 1024, 20},
                                       {"allreduce", "auto", 1024, 18},   {"reduce+bcast", "auto", 1024, 20},
                                       {"allreduce", "ring", 1024, 15},   {"bcast", "native", 1024, 5}};

TEST(Guidelines, AreListedOnce) {
  std::set<std::string> names;
  std::set<std::string> paper;
  for (const Guideline& guideline : guidelines()) {
    EXPECT_TRUE(names.insert(to_string(guideline)).second) << to_string(guideline);
    if (!guideline.source.empty()) paper.insert(std::string(guideline.source));
    for (const GuidelineCall& call : guideline.right.calls) {
      EXPECT_TRUE(call.part != VectorPart::at_root || is_irregular(call.collective));
    }
    if (!guideline.counterpart.empty()) {
      EXPECT_NE(find_algorithm(guideline.left.calls.front().collective, guideline.counterpart), nullptr);
    }
    EXPECT_EQ(guideline.left.calls.size(), 1U);
    EXPECT_LE(guideline.right.calls.size(), 2U);  // circoll-bench has memory for two calls
  }
  EXPECT_EQ(paper, (std::set<std::string>{"(2)", "(3)", "(4)", "(5)", "(6)"}));
  EXPECT_TRUE(names.contains("reduce_scatter <= allreduce+copy_block"));
  EXPECT_TRUE(names.contains("allgather <= gather+bcast"));
  EXPECT_TRUE(names.contains("reduce <= reduce_scatter@root"));
  EXPECT_TRUE(names.contains("bcast <= bcast/2+bcast/2"));
}

TEST(Guidelines, AViolationIsFound) {
  const auto violated = with(check_guidelines(runs_of(slow_allreduce, 4)), GuidelineVerdict::violated);
  ASSERT_EQ(violated.size(), 1U);
  EXPECT_EQ(to_string(*violated[0].guideline), "allreduce <= reduce+bcast");
  EXPECT_EQ(violated[0].algorithm, "native");
  EXPECT_EQ(violated[0].bytes, 1024);
  EXPECT_NEAR(violated[0].factor, 1.5, 1e-9);
  EXPECT_NEAR(violated[0].p_value, 1.0 / 70, 1e-12);
}

TEST(Guidelines, SmallEffectsAreNone) {
  const std::vector<Time> times{
      {"reduce", "native", 64, 10.4}, {"allreduce+copy_block", "native", 64, 10}, {"allreduce", "native", 64, 10}};
  EXPECT_TRUE(with(check_guidelines(runs_of(times, 5)), GuidelineVerdict::violated).empty());
  EXPECT_EQ(with(check_guidelines(runs_of(times, 5), {.least_effect = 0.01}), GuidelineVerdict::violated).size(), 1U);
}

TEST(Guidelines, TooFewLaunchesAreSaidToBe) {
  for (const int launches : {1, 2, 3}) {
    const auto findings = check_guidelines(runs_of(slow_allreduce, launches));
    EXPECT_EQ(with(findings, GuidelineVerdict::too_few).size(), launches < 3 ? 1U : 0U);
    EXPECT_EQ(with(findings, GuidelineVerdict::violated).size(), launches < 3 ? 0U : 1U);
  }
}

TEST(Guidelines, WhatChanceExplainsHolds) {
  std::vector<GuidelineRun> runs;
  for (const auto& [left, right] : {std::pair(10.0, 20.0), {30.0, 10.0}, {30.0, 20.0}, {30.0, 40.0}}) {
    runs.push_back(run_of({{"gather", "native", 64, left}, {"allgather", "native", 64, right}}));
  }
  const auto findings = check_guidelines(runs);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NEAR(findings[0].factor, 1.5, 1e-9);
  EXPECT_GT(findings[0].p_value, 0.05);
  EXPECT_EQ(findings[0].verdict, GuidelineVerdict::holds);
}

/// Launches of all sides in four sizes. A time is `factor(side, bytes)`, with noise.
std::vector<GuidelineRun> noisy_runs(int launches, std::mt19937_64& random,
                                     const std::function<double(const std::string&, Count)>& factor) {
  std::set<std::string> sides;
  for (const Guideline& guideline : guidelines()) {
    sides.insert(to_string(guideline.left));
    sides.insert(to_string(guideline.right));
  }
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  std::vector<GuidelineRun> runs;
  for (int i = 0; i < launches; ++i) {
    std::vector<Time> times;
    for (const std::string& side : sides) {
      for (const Count bytes : {64, 1024, 16384, 262144})
        times.push_back({side, "native", bytes, 10 * factor(side, bytes) * std::exp(0.4 * (uniform() - 0.5))});
    }
    runs.push_back(run_of(times));
  }
  return runs;
}

/// Without the correction nearly every measurement of equal times would have violations.
TEST(Guidelines, AllComparisonsTogetherHaveOneFalseAlarmInTwentyMeasurements) {
  std::mt19937_64 random(41);
  int alarms = 0, uncorrected = 0;
  constexpr int measurements = 200;
  for (int i = 0; i < measurements; ++i) {
    const auto findings = check_guidelines(noisy_runs(7, random, [](const auto&, Count) { return 1; }));
    ASSERT_GT(findings.size(), 150U);
    alarms += with(findings, GuidelineVerdict::violated).empty() ? 0 : 1;
    uncorrected +=
        std::ranges::any_of(findings,
                            [](const Finding& finding) { return finding.p_value <= 0.05 && finding.factor > 1.05; })
            ? 1
            : 0;
  }
  EXPECT_LE(alarms, measurements / 20 + 6);  // two standard deviations more
  EXPECT_GE(uncorrected, measurements * 9 / 10);
}

TEST(Guidelines, AmongManyComparisonsTheTrueViolationIsFound) {
  std::mt19937_64 random(42);
  const auto slow_gather = [](const std::string& side, Count bytes) {
    return side == "gather" && bytes == 1024 ? 2.0 : 1.0;
  };
  const auto few = check_guidelines(noisy_runs(5, random, slow_gather));
  EXPECT_TRUE(with(few, GuidelineVerdict::violated).empty());
  EXPECT_GE(with(few, GuidelineVerdict::too_few).size(), 5U);
  const int needed = launches_needed(few.size());
  EXPECT_EQ(launches_needed(1), 3);
  EXPECT_EQ(launches_needed(171), 7);
  EXPECT_GT(few.size(), 171U);
  EXPECT_EQ(needed, 8);
  const auto violated = with(check_guidelines(noisy_runs(needed, random, slow_gather)), GuidelineVerdict::violated);
  EXPECT_GE(violated.size(), 4U);
  for (const Finding& finding : violated) {
    EXPECT_EQ(to_string(finding.guideline->left).substr(0, 6), "gather");
    EXPECT_EQ(finding.bytes, 1024);
  }
}

TEST(Guidelines, EqualTimesHold) {
  const std::vector<GuidelineRun> runs(5, run_of({{"gather", "native", 64, 10}, {"allgather", "native", 64, 10}}));
  EXPECT_EQ(check_guidelines(runs).at(0).p_value, 1);
}

TEST(Guidelines, LargerSizesAndHalves) {
  const auto violated = with(check_guidelines(runs_of({{"scan", "auto", 1024, 50},
                                                       {"scan", "auto", 4096, 20},
                                                       {"scan", "auto", 65536, 90},
                                                       {"scan/2+scan/2", "auto", 65536, 60}},
                                                      4)),
                             GuidelineVerdict::violated);
  ASSERT_EQ(violated.size(), 2U);
  EXPECT_EQ(violated[0].guideline->relation, Relation::split);
  EXPECT_EQ(violated[1].guideline->relation, Relation::monotony);
  EXPECT_EQ(violated[1].bytes, 1024);
  EXPECT_EQ(violated[1].right_bytes, 4096);
}

TEST(Guidelines, ALaunchCountsOnce) {
  GuidelineRun run = run_of(slow_allreduce);
  for (int i = 0; i < 3; ++i) run.sides.insert(run.sides.end(), run.sides.begin(), run.sides.begin() + 6);
  for (const Finding& finding : check_guidelines({run})) EXPECT_EQ(finding.left_launches, 1);
}

TEST(Guidelines, FixesServeViolatedCellsBetter) {
  std::vector<Time> times = slow_allreduce;
  times.push_back({"allreduce", "native", 64, 10});
  times.push_back({"allreduce", "ring", 64, 5});
  times.push_back({"reduce+bcast", "native", 64, 20});
  const auto runs = runs_of(times, 4);
  const auto cells = guideline_fixes(runs, check_guidelines(runs));
  const auto policy = make_rules_policy(
      rules_json(cells, measured_operator(runs[0].launch), {.otherwise = "native", .all_collectives = true}), "rules");
  const auto served = [&](Collective collective, Rank p, Count bytes, Op op = Op::bor) {
    const Decision decision = policy->decide(facts_of(collective, p, bytes, op, Type::byte));
    return decision.selection ? std::string(decision.selection->algorithm->name) : "native";
  };
  EXPECT_EQ(served(Collective::allreduce, 4, 64), "native");  // not violated, although ring is faster
  EXPECT_EQ(served(Collective::allreduce, 4, 255), "native");
  EXPECT_EQ(served(Collective::allreduce, 4, 256), "ring");
  EXPECT_EQ(served(Collective::allreduce, 4, 1024), "ring");
  EXPECT_EQ(served(Collective::allreduce, 5, 1024), "native");
  EXPECT_EQ(served(Collective::bcast, 4, 1024), "native");
  EXPECT_EQ(served(Collective::scan, 4, 1024), "native");
}

/// allreduce violates no guideline until reduce_scatter_block gets a rule.
TEST(Guidelines, FixesConsiderWhatTheyMakeFaster) {
  const std::vector<Time> times = {{"allreduce", "native", 1024, 50},
                                   {"allreduce", "ring", 1024, 45},
                                   {"allreduce", "native", 64, 30},
                                   {"allreduce", "ring", 64, 25},
                                   {"reduce_scatter_block", "native", 1024, 60},
                                   {"reduce_scatter_block", "circulant", 1024, 20},
                                   {"reduce_scatter_block", "native", 64, 60},
                                   {"reduce_scatter_block", "circulant", 64, 54},
                                   {"allgather", "native", 1024, 20},
                                   {"reduce_scatter_block+allgather", "native", 1024, 80},
                                   {"reduce_scatter_block+allgather", "native", 64, 80},
                                   {"allreduce+copy_block", "native", 1024, 52},
                                   {"allreduce+copy_block", "native", 64, 52}};
  const auto runs = runs_of(times, 6);
  const auto used = [&](double least_effect) {
    std::map<std::pair<std::string, Count>, RuleCell> cells;
    const GuidelineTest test{.least_effect = least_effect};
    for (const RuleCell& cell : guideline_fixes(runs, check_guidelines(runs, test), test)) {
      cells[{std::string(to_string(cell.collective)), cell.bytes}] = cell;
    }
    return cells;
  };
  auto cells = used(0.05);
  EXPECT_EQ(cells.at({"reduce_scatter_block", 1024}).use, "circulant");
  EXPECT_EQ(cells.at({"reduce_scatter_block", 64}).use, "circulant");
  EXPECT_EQ(cells.at({"allreduce", 1024}).use, "ring");  // 50 us against 80 - 40
  EXPECT_EQ(
      cells.at({"allreduce", 1024}).about.find("allreduce <= reduce_scatter_block+allgather violated by these rules"),
      0U);
  EXPECT_EQ(cells.at({"allreduce", 64}).use, "native");  // 30 us against 80 - 6, and against 45 for 1024 bytes
  EXPECT_EQ(cells.at({"allgather", 1024}).use, "native");
  cells = used(0.14);  // 60 us against 52 is still a violation, 50 against 40 one as well
  EXPECT_EQ(cells.at({"allreduce", 1024}).use, "ring");
  cells = used(0.3);  // none is
  EXPECT_EQ(cells.at({"reduce_scatter_block", 1024}).use, "native");
  EXPECT_EQ(cells.at({"allreduce", 1024}).use, "native");
}

TEST(Guidelines, FixesAreAutoIfNothingElseWasMeasured) {
  const auto runs = runs_of({{"allreduce", "native", 1024, 30}, {"reduce+bcast", "native", 1024, 20}}, 4);
  const auto cells = guideline_fixes(runs, check_guidelines(runs));
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].use, "auto");
}

TEST(Guidelines, FixesStayNativeIfNothingIsFaster) {
  const auto runs = runs_of(
      {{"allreduce", "native", 1024, 30}, {"reduce+bcast", "native", 1024, 20}, {"allreduce", "auto", 1024, 40}}, 4);
  EXPECT_EQ(guideline_fixes(runs, check_guidelines(runs)).at(0).use, "native");
}

TEST(Guidelines, FilesAreRead) {
  nlohmann::json document = {
      {"type", "byte"}, {"op", "bor"}, {"root", 0}, {"sync", "clock"}, {"rows", nlohmann::json::array()}};
  const nlohmann::json side = {{"side", "reduce+bcast"},
                               {"algorithm", "native"},
                               {"served_by", "native+native"},
                               {"p", 4},
                               {"bytes", 64},
                               {"reps", 5},
                               {"median_us", 3.5}};
  document["sides"] = nlohmann::json::array();  // {side} is a copy of it to some compilers
  document["sides"].push_back(side);
  const GuidelineRun run = guideline_run_from_json(document.dump(), "a.json");
  ASSERT_EQ(run.sides.size(), 1U);
  EXPECT_EQ(run.sides[0].side, "reduce+bcast");
  EXPECT_DOUBLE_EQ(run.sides[0].median_s, 3.5e-6);
  const auto refused = [&](const std::string& key, const nlohmann::json& value) {
    nlohmann::json bad = document;
    bad["sides"][0][key] = value;
    EXPECT_THROW((void)guideline_run_from_json(bad.dump(), "a.json"), Error) << key << " " << value;
  };
  refused("side", "reduce+reduce");
  refused("side", 7);
  refused("p", 0);
  refused("bytes", -1);
  refused("reps", -1);
  refused("median_us", 0);
  refused("median_us", -1);
  refused("median_us", nullptr);
  document["sides"][0].erase("algorithm");
  EXPECT_THROW((void)guideline_run_from_json(document.dump(), "a.json"), Error);
  document.erase("sides");
  EXPECT_THROW((void)guideline_run_from_json(document.dump(), "a.json"), Error);
  document["sides"] = 3;
  EXPECT_THROW((void)guideline_run_from_json(document.dump(), "a.json"), Error);
  EXPECT_THROW((void)guideline_run_from_json("[", "a.json"), Error);
}

// `auto` promises about (2) to (5): the predicted time of its choice for the left side is not longer than of its
// choices for the right side.
TEST(Guidelines, AutoKeepsThoseOfThePaperAsPredicted) {
  const auto seconds = [](const GuidelineSide& side, Rank p, Count bytes) {
    double sum = 0;
    for (const GuidelineCall& call : side.calls) {
      const Decision decision = default_policy().decide(facts_of(call.collective, p, bytes, Op::sum, Type::float64));
      sum += circoll::seconds(terms_of(*decision.selection, p, bytes), default_policy().machine());
    }
    return sum;
  };
  for (const Guideline& guideline : guidelines()) {
    if (guideline.source.empty() || guideline.source == "(6)") continue;  // the model knows equal blocks only
    for (const Rank p : {2, 3, 4, 5, 7, 8, 16, 31, 36, 64, 100}) {
      for (Count bytes = 8; bytes <= Count{16} << 20; bytes *= 4) {
        EXPECT_LE(seconds(guideline.left, p, bytes), seconds(guideline.right, p, bytes) * 1.000001)
            << to_string(guideline) << ", p = " << p << ", " << bytes << " bytes";
      }
    }
  }
}

TEST(Guidelines, Misuse) {
  EXPECT_THROW((void)check_guidelines({}), Error);
  GuidelineRun other = run_of(slow_allreduce);
  other.launch.type = "float64";
  EXPECT_THROW((void)check_guidelines({run_of(slow_allreduce), other}), Error);
  EXPECT_THROW((void)check_guidelines({run_of(slow_allreduce)}, {.significance = 0}), Error);
  EXPECT_THROW((void)check_guidelines({run_of(slow_allreduce)}, {.least_effect = -1}), Error);
}

}  // namespace
}  // namespace circoll
