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
  const CommandResult outcome = run("simulate " + arguments + " 2>&1");
  EXPECT_EQ(outcome.exit_code, 2) << arguments;
  EXPECT_TRUE(contains(outcome.out, what)) << arguments << "\n" << outcome.out;
}

TEST(CliSimulate, TellsTimePathAndIdleTimes) {
  const CommandResult text = run("simulate bcast/binomial -p 24 --bytes 64Ki");
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

TEST(CliSimulate, TellsBytesByLevelAndTheBusiestLinkOfEveryRound) {
  const std::string arguments =
      "simulate allreduce/circulant -p 64 --bytes 1Mi --topology fat_tree:nodes=64,leaves=8,spines=4";
  const CommandResult text = run(arguments);
  EXPECT_EQ(text.exit_code, 0);
  for (const char* part :
       {"on fat_tree:nodes=64,leaves=8,spines=4, consecutive, 1 rank on a node", "if no two messages shared a link",
        "over spines: 248 MiB in 248 messages", "leaf 0 to spine 0: 2 MiB in 2 messages"})
    EXPECT_TRUE(contains(text.out, part)) << part << "\n" << text.out;
  const json result = json::parse(run(arguments + " --json").out);
  EXPECT_EQ(result.at("levels").at("node").at("messages"), 0);
  EXPECT_EQ(result.at("levels").at("group").at("messages"), 384 - 248);
  EXPECT_EQ(result.at("levels").at("system").at("bytes"), 248 << 20);
  EXPECT_EQ(result.at("rounds").size(), 6U);
  EXPECT_EQ(result.at("rounds")[5].at("busiest").at("link"), "leaf 0 to spine 0");
  EXPECT_GT(result.at("time_s"), result.at("alone_s"));
  // The same network is read from a file, and a second file places the ranks.
  const TemporaryFile network(R"({"circoll_topology": 1, "kind": "fat_tree", "nodes": 64, "leaves": 8, "spines": 4})",
                              "network.json");
  const json of_file =
      json::parse(run("simulate allreduce/circulant -p 64 --bytes 1Mi --json --topology " + network.path).out);
  EXPECT_EQ(of_file, result);
  std::string nodes;
  for (int r = 0; r < 64; ++r) nodes += std::to_string(63 - r) + "\n";
  const TemporaryFile places(nodes, "places");
  const json turned = json::parse(run(arguments + " --json --placement file:" + places.path).out);
  EXPECT_EQ(turned.at("time_s"), result.at("time_s"));
  EXPECT_EQ(turned.at("placement"), "file:" + places.path);
  const json random = json::parse(run(arguments + " --json --placement random:1").out);
  EXPECT_GT(random.at("time_s"), result.at("time_s"));
}

TEST(CliSimulate, AFlatNetworkIsAsLongAsCostSays) {
  for (const char* id : {"allreduce/circulant_optimal", "bcast/binomial", "allgather/ring"}) {
    const json rounds =
        json::parse(run(std::string("simulate ") + id + " -p 37 --bytes 1Mi --topology flat --json").out);
    const json cost =
        json::parse(run(std::string("cost ") + id + " -p 37 --bytes 1Mi --f-alpha 1 --f-beta 1 --json").out);
    EXPECT_NEAR(rounds.at("time_s").get<double>(), cost.at("time_s").get<double>(), 1e-15) << id;
    EXPECT_EQ(rounds.at("alone_s"), rounds.at("time_s")) << id;
  }
}

TEST(CliSimulate, TablesOnANetworkHaveBothTimes) {
  const std::string arguments = "simulate allgather -p 12,24 --bytes 1Ki,1Mi --cores 2 --topology torus:dims=4x3";
  const json result = json::parse(run(arguments + " --json").out);
  ASSERT_EQ(result.at("rows").size(), 4U);
  for (const json& row : result.at("rows")) {
    EXPECT_EQ(row.at("topology"), "torus:dims=4x3");
    EXPECT_GT(row.at("times").size(), 5U);
    for (std::size_t i = 0; i < row.at("times").size(); ++i) {
      const json& one = row.at("times")[i];
      EXPECT_GE(one.at("time_s").get<double>(), one.at("alone_s").get<double>() * (1 - 1e-12)) << one;
      if (i > 0) {
        EXPECT_GE(one.at("time_s"), row.at("times")[i - 1].at("time_s"));
      }
    }
  }
  const CommandResult text = run(arguments);
  EXPECT_TRUE(
      contains(text.out, "on torus:dims=4x3, consecutive, at most 2 ranks on a node\np = 24, m = 1 KiB: time, and"))
      << text.out;
}

TEST(CliSimulate, MisuseOfANetworkIsOneClearError) {
  expect_misuse("bcast -p 4 --topology star", "'star' is no topology; known are flat, fat_tree, dragonfly, torus");
  expect_misuse("bcast/binomial -p 9 --topology torus:dims=8", "p = 9 with 1 rank on a node needs 9 nodes");
  expect_misuse("bcast/binomial -p 9 --topology torus:dims=8x8,link=0", "link is a number above 0");
  expect_misuse("bcast/binomial -p 4 --topology flat --placement near", "'near' is no placement");
  expect_misuse("bcast/binomial -p 4 --placement round_robin", "--placement needs --topology");
  expect_misuse("bcast/binomial -p 4 --topology flat --skew uniform:1us", "--skew is about events");
  expect_misuse("bcast/binomial -p 4 --topology flat --what-if", "--what-if is about events");
  expect_misuse("bcast/binomial -p 4 --topology /nowhere.json", "/nowhere.json cannot be read");
  const TemporaryFile network("{\"circoll_topology\": 1,\n \"kind\": \"torus\",\n \"dim\": [4]}", "wrong.json");
  expect_misuse("bcast/binomial -p 4 --topology " + network.path, network.path + ":3: 'dim' is no key of torus");
  const TemporaryFile places("0\n1\n1\n2\n", "places");
  expect_misuse("bcast/binomial -p 4 --topology flat --placement file:" + places.path,
                places.path + ":3: node 1 has more than 1 rank");
}

TEST(CliSimulate, MisuseIsOneClearError) {
  expect_misuse("allreduce/circulent -p 4", "did you mean circulant");
  expect_misuse("allreduce/ring -p 4 --root 1", "has no root");
  expect_misuse("bcast/binomial -p 4 --root 4", "--root lies in 0 .. 3");
  expect_misuse("allgather/neighbor_exchange -p 7", "even");
  expect_misuse("bcast/binomial -p 4 --loggops X=1", "'X' is none of L, o, g, G, O, S");
  expect_misuse("bcast/binomial -p 4 --loggops L=fast", "L is a time");
  expect_misuse("bcast/binomial -p 4 --exchange 2", "'2' is no FACTOR:BYTES, such as 2.1:64Ki");
  expect_misuse("bcast/binomial -p 4 --exchange 2:64Ki --topology flat", "--exchange is about events");
  expect_misuse("bcast/binomial -p 4 --skew gauss:1us", "'gauss:1us' is no distribution");
  expect_misuse("bcast/binomial -p 4 --slow 5", "RANK:FACTOR");
  expect_misuse("bcast/binomial -p 4 --slow 5:2", "a slow rank is one of 0 .. p-1");
  expect_misuse("bcast -p 4 --what-if", "about one algorithm");
  expect_misuse("bcast/binomial -p 4 --machine /nowhere", "/nowhere");
  expect_misuse("alltoall/linear -p 64Ki", "too many to be simulated");
}

TEST(CliSimulate, AlgorithmsForNodesHaveTheNodesOfTheScene) {
  const json own = json::parse(run("simulate allreduce/leaders -p 12 --bytes 8 --cores 6 --json").out);
  EXPECT_EQ(own.at("params").at("cores"), 6);
  const json given = json::parse(run("simulate allreduce/leaders:cores=3 -p 12 --bytes 8 --cores 6 --json").out);
  EXPECT_EQ(given.at("params").at("cores"), 3);
}

TEST(CliSimulate, PlaysNeighbourhoodCollectives) {
  // In a line of 4 ranks the two inner ones exchange two messages of 1000 bytes each, one after the other.
  const json line =
      json::parse(run("simulate neighbor_alltoall --cart 4 --bytes 1000 --loggops L=0,g=0,G=1ns,o=0 --json").out);
  EXPECT_EQ(line.at("id"), "neighbor_alltoall/direct");
  EXPECT_EQ(line.at("messages"), 6);
  EXPECT_EQ(line.at("bytes_between"), 6000);
  EXPECT_NEAR(line.at("time_s").get<double>(), 2 * 999e-9, 5e-9);
  const CommandResult words = run("simulate neighbor_alltoall --cart 4x4 --cores 4 --bytes 8");
  EXPECT_TRUE(contains(words.out, "messages   48, of which 24 between nodes (6 by node_aware)")) << words.out;
  // On a network, ranks lie where --placement says.
  const json placed = json::parse(
      run("simulate neighbor_alltoall --cart 4x4 --cores 4 --topology flat --placement round_robin --json").out);
  EXPECT_EQ(placed.at("messages_between"), 24);
  EXPECT_GT(placed.at("time_s").get<double>(), 0);
  expect_misuse("neighbor_alltoall", "needs a graph: --graph FILE, or --cart 8x8x8");
  expect_misuse("neighbor_alltoall --cart 4 --bytes 8,16", "is simulated with one -p and one size");
  expect_misuse("bcast -p 4 --cart 4", "are for neighbourhood collectives");
}

}  // namespace
}  // namespace circoll
