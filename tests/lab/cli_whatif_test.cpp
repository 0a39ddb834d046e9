// The command `circoll whatif`, from outside.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "circoll/select.hpp"
#include "facts/call_trace.hpp"
#include "select/machine.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

using nlohmann::json;

Machine slow_machine() {
  Machine machine;
  machine.name = "slow";
  machine.alpha_s = 1e-3;
  machine.beta_s_per_byte = 1e-9;
  machine.f_alpha = machine.f_beta = 1;
  return machine;
}

/// Four ranks make ten allreduces of 800 bytes. Rank 3 computes for 20 ms before each, the others for 10 ms.
std::string unbalanced() {
  std::string file;
  trace::FileWriter writer(
      {.ranks = 4, .program = "lopsided", .mpi = "MPICH 4.0.2", .machine = to_json(slow_machine())},
      [&](std::string_view part) { file += part; });
  for (Rank rank = 0; rank < 4; ++rank) {
    trace::RankWriter calls;
    calls.add_communicator(std::vector<Rank>{0, 1, 2, 3}, 4);
    calls.add_shape({.collective = Collective::allreduce,
                     .count = 100,
                     .element_bytes = 8,
                     .op = {.exact = false},
                     .served = "recursive_doubling"});
    std::int64_t now_ns = 0;
    for (int i = 0; i < 10; ++i) {
      const std::int64_t late_ns = rank == 3 ? 10'000'000 : 0;
      calls.add_call({.shape = 0, .begin_ns = now_ns + 10'000'000 + late_ns, .end_ns = now_ns + 22'100'000});
      now_ns += 22'100'000;
    }
    calls.write({.rank = rank, .end_ns = now_ns}, [&](std::string_view part) { writer.part(part); });
  }
  writer.finish();
  return file;
}

struct Played {
  TemporaryFile file{unbalanced(), ".calls"};
  /// With the machine's own prices, by which times can be computed by hand.
  [[nodiscard]] CommandResult with(const std::string& options) const {
    return run("whatif " + file.path + " --no-fit " + options + " 2>&1");
  }
  [[nodiscard]] json json_with(const std::string& options) const { return json::parse(with(options + " --json").out); }
};

TEST(CliWhatIf, PrintsATableAndAVerdict) {
  const Played played;
  const CommandResult text = played.with("");
  EXPECT_EQ(text.exit_code, 0);
  for (const char* const part :
       {"lopsided on 4 ranks with MPICH 4.0.2: 40 calls of collectives", "recorded", "simulated, as it was served",
        "policy auto", "policy classic", "load balanced", "calibration: collectives without waiting take 0.72 of",
        "'load balanced' pays most: the run takes 31.3 %"})
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.out.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 100U) << text.out.substr(begin, end - begin);
}

TEST(CliWhatIf, JsonHasTheTimesOfEachRank) {
  const Played played;
  const json answer = played.json_with("");
  EXPECT_EQ(answer.at("circoll_whatif"), 1);
  EXPECT_EQ(answer.at("calls"), 40);
  EXPECT_NEAR(answer.at("recorded").at("run_s").get<double>(), 0.221, 1e-9);
  EXPECT_NEAR(answer.at("recorded").at("waiting_s").get<double>(), 0.075, 1e-9);
  EXPECT_NEAR(answer.at("recorded").at("ranks").at("waiting_s").at(0).get<double>(), 0.1, 1e-9);
  EXPECT_NEAR(answer.at("recorded").at("ranks").at("waiting_s").at(3).get<double>(), 0, 1e-9);
  // Rank 3 finds its messages there, and its own two leave by one port. The last ones have a latency more.
  EXPECT_NEAR(answer.at("simulated").at("run_s").get<double>(), 10 * (0.02 + 1e-3 + 2 * 800e-9) + 1e-3, 1e-6);
  EXPECT_NEAR(answer.at("simulated").at("waiting_s").get<double>(), 0.0705, 1e-4);
  // Two exchanges of 800 bytes.
  EXPECT_EQ(answer.at("changes").back().at("what"), "load balanced");
  EXPECT_NEAR(answer.at("changes").back().at("run_s").get<double>(), 10 * (0.0125 + 2 * (1e-3 + 800e-9)), 1e-6);
  EXPECT_FALSE(answer.contains("asked"));
}

TEST(CliWhatIf, FitsThePricesToTheRecordedTimes) {
  const Played played;
  const CommandResult text = run("whatif " + played.file.path + " 2>&1");
  EXPECT_EQ(text.exit_code, 0);
  // 2.1 ms were recorded of calls that take 2.0016 ms.
  EXPECT_TRUE(contains(text.out, "prices of machine 'slow' fitted to the recorded times: 98.4 us more for each call"))
      << text.out;
}

TEST(CliWhatIf, TriesWhatItIsAskedFor) {
  const Played played;
  const TemporaryFile machine(to_json([] {
                                Machine fast = slow_machine();
                                fast.name = "fast";
                                fast.alpha_s = 1e-6;
                                return fast;
                              }()),
                              "fast.json");
  const json fast = played.json_with("--machine " + machine.path);
  EXPECT_EQ(fast.at("asked").at("what"), "on fast");
  EXPECT_NEAR(fast.at("asked").at("run_s").get<double>(), 10 * (0.02 + 1e-6 + 2 * 800e-9) + 1e-6, 1e-7);
  const json more = played.json_with("-p 8");
  EXPECT_EQ(more.at("asked").at("what"), "8 ranks");
  EXPECT_NEAR(more.at("asked").at("run_s").get<double>(), 10 * (0.02 + 3 * (1e-3 + 800e-9)), 1e-6);
  const json balanced = played.json_with("--balanced --policy classic");
  EXPECT_EQ(balanced.at("asked").at("what"), "load balanced");
  EXPECT_EQ(balanced.at("changes").at(0).at("what"), "policy classic");
  for (const char* const choice : {"allreduce=ring", "allreduce/ring", "Allreduce=ring"}) {
    const json ring = played.json_with(std::string("--policy auto --algorithm ") + choice);
    EXPECT_EQ(ring.at("changes").at(1).at("what"), "allreduce/ring");
    // Six rounds of 200 bytes.
    EXPECT_NEAR(ring.at("changes").at(1).at("run_s").get<double>(), 10 * (0.02 + 6 * (1e-3 + 200e-9)), 1e-5);
  }
}

TEST(CliWhatIf, WritesTheProgramForOtherSimulators) {
  const Played played;
  const std::string prefix = played.file.path + ".out";
  EXPECT_EQ(played.with("--goal " + prefix + " --chakra " + prefix).exit_code, 0);
  const std::string goal = content(prefix);
  EXPECT_TRUE(goal.starts_with("num_ranks 4\n\nrank 0 {\ns0: calc 10000000\n")) << goal.substr(0, 200);
  std::remove(prefix.c_str());
  for (int rank = 0; rank < 4; ++rank) {
    const std::string file = prefix + "." + std::to_string(rank) + ".et";
    EXPECT_TRUE(contains(content(file), "compute")) << file;
    EXPECT_EQ(contains(content(file), "send to " + std::to_string(rank ^ 1) + ", round 0"), true) << file;
    std::remove(file.c_str());
  }
  const CommandResult failed = played.with("--goal /no/such/directory/x");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_TRUE(contains(failed.out, "the file '/no/such/directory/x' could not be written")) << failed.out;
}

TEST(CliWhatIf, MisuseIsExplained) {
  const Played played;
  const auto expect_misuse = [](const CommandResult& outcome, const std::string& what) {
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.out, what)) << outcome.out;
  };
  expect_misuse(run("whatif 2>&1"), "trace");
  expect_misuse(run("whatif /no/such/file 2>&1"), "the file '/no/such/file' cannot be read");
  expect_misuse(played.with("-p 2"), "recorded on 4 ranks, and can be played on as many or more");
  expect_misuse(played.with("--algorithm ring"), "--algorithm is COLLECTIVE=ALGORITHM");
  expect_misuse(played.with("--algorithm allreduce=rang"), "ring");
  expect_misuse(played.with("--policy best"), "best");
  const std::string whole = unbalanced();
  const TemporaryFile half(whole.substr(0, whole.size() / 2), "half.calls");
  expect_misuse(run("whatif " + half.path + " 2>&1"), "the trace is cut off");
  std::string changed = whole;
  changed[whole.size() / 2] ^= 1;
  const TemporaryFile damaged(changed, "damaged.calls");
  expect_misuse(run("whatif " + damaged.path + " 2>&1"), "the trace is damaged");
  const TemporaryFile perfetto(R"({"otherData": {"circoll_trace": 1}, "traceEvents": []})", "trace.json");
  expect_misuse(run("whatif " + perfetto.path + " 2>&1"), "CIRCOLL_TRACE=FILE.calls");
  const TemporaryFile machine(to_json(slow_machine()), "machine.json");
  expect_misuse(run("whatif " + machine.path + " 2>&1"), "this is a description of a machine");
  // Other commands know such a file.
  expect_misuse(run("report " + played.file.path + " 2>&1"), "'circoll whatif");
}

}  // namespace
}  // namespace circoll
