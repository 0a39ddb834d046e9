// The command `circoll simulate`, from outside.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/command.hpp"

namespace circoll {
namespace {

using nlohmann::json;

void expect_misuse(const std::string& arguments, const std::string& what) {
  const Outcome outcome = run("simulate " + arguments + " 2>&1");
  EXPECT_EQ(outcome.exit_code, 2) << arguments;
  EXPECT_TRUE(contains(outcome.out, what)) << arguments << "\n" << outcome.out;
}

TEST(CliSimulate, TellsTimePathAndIdleTimes) {
  const Outcome text = run("simulate bcast/binomial -p 24 --bytes 64Ki");
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part : {"bcast/binomial  p = 24, m = 64 KiB", "critical path",
                           "rank 0 sends 64 KiB to rank 16, round 0", "ranks idle: mean"})
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  const json result = json::parse(run("simulate bcast/binomial -p 24 --bytes 64Ki --json").out);
  EXPECT_EQ(result.at("messages"), 23);
  EXPECT_EQ(result.at("path").front().at("begin_s"), 0);
  EXPECT_EQ(result.at("path").back().at("end_s"), result.at("time_s"));
  EXPECT_EQ(result.at("ranks").at("idle_s").size(), 24U);
}

TEST(CliSimulate, IsAsLongAsCostSays) {
  const json simulated = json::parse(run("simulate allreduce/circulant -p 37 --bytes 1Mi --json").out);
  const json cost = json::parse(run("cost allreduce/circulant -p 37 --bytes 1Mi --f-alpha 1 --f-beta 1 --json").out);
  EXPECT_NEAR(simulated.at("time_s").get<double>(), cost.at("time_s").get<double>(), 1e-15);
}

TEST(CliSimulate, LogGopsOnTheCommandLine) {
  const json result = json::parse(
      run("simulate allreduce/recursive_doubling -p 16 --bytes 64Ki --loggops L=1000,G=1 --gamma 0 --json").out);
  EXPECT_EQ(result.at("time_s"), 4 * (1000 + 65535));
  const json with_all = json::parse(
      run("simulate bcast/linear -p 2 --bytes 11 --loggops L=100s,o=7s,g=3,G=2,O=1,S=8 --gamma 0 --json").out);
  EXPECT_EQ(with_all.at("time_s"), 7 + 3 * 100 + 10 * 2 + 7);
}

TEST(CliSimulate, SeedsMakeADistribution) {
  const std::string arguments = "simulate reduce/chain -p 16 --bytes 1Mi --skew exponential:20us --seeds 20 --json";
  const json result = json::parse(run(arguments).out);
  const json& times = result.at("distribution");
  EXPECT_EQ(times.at("seeds"), 20);
  EXPECT_LT(times.at("least_s"), times.at("median_s"));
  EXPECT_LT(times.at("median_s"), times.at("most_s"));
  EXPECT_EQ(json::parse(run(arguments + " --jobs 3").out), result);
  EXPECT_NE(json::parse(run(arguments + " --seed 100").out).at("distribution"), times);
}

TEST(CliSimulate, WhatIf) {
  const json result = json::parse(run("simulate allreduce/ring -p 8 --bytes 1Mi --cores 2 --what-if --json").out);
  std::string names;
  for (const json& one : result.at("what_if")) {
    names += one.at("what").get<std::string>() + "; ";
    const bool slower = contains(one.at("what").get<std::string>(), "slow");
    if (slower) {
      EXPECT_GT(one.at("time_s"), result.at("time_s")) << names;
    } else {
      EXPECT_LE(one.at("time_s"), result.at("time_s")) << names;
    }
  }
  for (const char* name : {"latency halved", "bandwidth doubled", "twice the ports", "rank 4", "node 2"})
    EXPECT_TRUE(contains(names, name)) << names;
}

TEST(CliSimulate, TablesNameCrossovers) {
  const json result = json::parse(run("simulate allreduce -p 16,5 --bytes 1Mi,8 --json").out);
  ASSERT_EQ(result.at("rows").size(), 4U);
  EXPECT_EQ(result.at("rows")[0].at("p"), 5);
  EXPECT_EQ(result.at("rows")[0].at("bytes"), 8);
  for (const json& row : result.at("rows")) {
    for (std::size_t i = 1; i < row.at("times").size(); ++i)
      EXPECT_GE(row.at("times")[i].at("time_s"), row.at("times")[i - 1].at("time_s"));
  }
  EXPECT_FALSE(result.at("crossovers").empty());
  EXPECT_TRUE(contains(result.at("left_out").dump(), "idempotent"));
  EXPECT_TRUE(contains(run("simulate allreduce -p 16 --bytes 8,1Mi").out, "crossovers"));
}

TEST(CliSimulate, TracesAreReadable) {
  const TemporaryFile file("", "simulate.json");
  ASSERT_EQ(run("simulate allreduce/circulant -p 5 --bytes 1Ki --trace " + file.path).exit_code, 0);
  const json trace = json::parse(content(file.path));
  std::map<std::string, int> phases;
  for (const json& event : trace.at("traceEvents")) ++phases[event.at("ph").get<std::string>()];
  EXPECT_EQ(phases["M"], 1 + 5);
  EXPECT_EQ(phases["s"], 5 * 3);  // an arrow for each message
  EXPECT_EQ(phases["f"], 5 * 3);
  EXPECT_GT(phases["X"], 2 * 5 * 3);
}

TEST(CliSimulate, ArrivalsComeFromAFile) {
  const TemporaryFile good("0\n1ms\n", "arrivals");
  const json result = json::parse(run("simulate barrier/dissemination -p 2 --arrivals " + good.path + " --json").out);
  EXPECT_EQ(result.at("last_arrival_s"), 1e-3);
  EXPECT_GT(result.at("time_s"), 1e-3);
  const TemporaryFile bad("0\n1 mile\n", "arrivals_bad");
  expect_misuse("barrier/dissemination -p 2 --arrivals " + bad.path, bad.path + ":2: '1 mile' is no time");
}

TEST(CliSimulate, MisuseIsOneClearError) {
  expect_misuse("allreduce/circulent -p 4", "did you mean circulant");
  expect_misuse("allreduce/ring -p 4 --root 1", "has no root");
  expect_misuse("bcast/binomial -p 4 --root 4", "--root lies in 0 .. 3");
  expect_misuse("allgather/neighbor_exchange -p 7", "even");
  expect_misuse("bcast/binomial -p 4 --loggops X=1", "'X' is none of L, o, g, G, O, S");
  expect_misuse("bcast/binomial -p 4 --loggops L=fast", "L is a time");
  expect_misuse("bcast/binomial -p 4 --skew gauss:1us", "'gauss:1us' is no distribution");
  expect_misuse("bcast/binomial -p 4 --slow 5", "RANK:FACTOR");
  expect_misuse("bcast/binomial -p 4 --slow 5:2", "a slow rank is one of 0 .. p-1");
  expect_misuse("bcast -p 4 --what-if", "about one algorithm");
  expect_misuse("bcast/binomial -p 4 --machine /nowhere", "/nowhere");
  expect_misuse("alltoall/linear -p 64Ki", "too many to be simulated");
}

}  // namespace
}  // namespace circoll
