// circoll verify in shards, and circoll merge: from outside.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "support/command.hpp"

namespace circoll {
namespace {

using nlohmann::json;

constexpr const char* work = "verify allgather allgatherv reduce/binomial bcast/pipeline -p 1..13 --jobs 2 ";

/// Names of files that are removed in the end.
struct Files {
  std::string stem = testing::TempDir() + "circoll_shards_" + std::to_string(getpid());
  [[nodiscard]] std::string path(int i) const { return stem + "." + std::to_string(i) + ".json"; }
  [[nodiscard]] std::string all(int n) const {
    std::string names;
    for (int i = 1; i <= n; ++i) names += path(i) + " ";
    return names;
  }
  Files() = default;
  ~Files() {
    for (int i = 0; i <= 9; ++i) std::remove(path(i).c_str());
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
};

CommandResult do_shard(const Files& files, int i, int n, const std::string& what = work) {
  return run(what + "--shard " + std::to_string(i) + "/" + std::to_string(n) + " -o " + files.path(i) + " 2>&1");
}

json without_seconds(const std::string& text) {
  json rows = json::parse(text);
  for (json& row : rows) row.erase("seconds");
  return rows;
}

TEST(CliShard, ShardsProveWhatOneRunProves) {
  const json whole = without_seconds(run(std::string(work) + "--json").out);
  for (const int n : {1, 3, 4}) {
    const Files files;
    for (int i = n; i >= 1; --i) {
      const CommandResult outcome = do_shard(files, i, n);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    }
    const CommandResult together = run("merge --json " + files.all(n));
    EXPECT_EQ(together.exit_code, 0);
    json rows = without_seconds(together.out);
    EXPECT_EQ(rows, whole) << n;
    const CommandResult text = run("merge " + files.all(n));
    EXPECT_TRUE(contains(text.out, ", 0 refuted\n")) << text.out;
  }
}

TEST(CliShard, CellsAreThoseOfTheListedRanks) {
  const std::string listed = "verify allgather/ring -p 2,5..6,400 --jobs 2 ";
  const Files files;
  for (int i = 1; i <= 2; ++i) {
    const CommandResult outcome = do_shard(files, i, 2, listed);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "2 of 4 cells")) << outcome.out;
  }
  const CommandResult together = run("merge --json " + files.all(2));
  EXPECT_EQ(together.exit_code, 0);
  EXPECT_EQ(without_seconds(together.out), without_seconds(run(listed + "--json").out));
}

TEST(CliShard, WhatIsDoneIsNotDoneAgain) {
  const Files files;
  ASSERT_EQ(do_shard(files, 2, 3).exit_code, 0);
  const std::string before = content(files.path(2));
  const CommandResult again = do_shard(files, 2, 3);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_TRUE(contains(again.out, "was done before")) << again.out;
  EXPECT_EQ(content(files.path(2)), before);

  // A shard that was ended early goes on: the parts that it has stay as they are.
  json partial = json::parse(before);
  ASSERT_GT(partial["parts"].size(), 4U);
  const std::size_t all = partial["parts"].size();
  partial["parts"][0][1][0]["instances"] = 12345;
  partial["parts"].erase(partial["parts"].begin() + 3, partial["parts"].end());
  partial["done"] = false;
  std::ofstream(files.path(2)) << partial.dump();
  EXPECT_TRUE(contains(run("merge " + files.path(2) + " 2>&1").out, "is not done: run the same command again"));
  EXPECT_EQ(do_shard(files, 2, 3).exit_code, 0);
  const json after = json::parse(content(files.path(2)));
  EXPECT_EQ(after["done"], true);
  EXPECT_EQ(after["parts"].size(), all);
  EXPECT_EQ(after["parts"][0][1][0]["instances"], 12345);
}

TEST(CliShard, NothingIsWrittenOver) {
  const Files files;
  ASSERT_EQ(do_shard(files, 1, 2).exit_code, 0);
  const std::string before = content(files.path(1));
  const auto refused = [&](const std::string& command, const std::string& why) {
    const CommandResult outcome = run(command + " -o " + files.path(1) + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, why)) << outcome.out;
    EXPECT_EQ(content(files.path(1)), before);
  };
  refused(std::string(work) + "--shard 2/2", "has shard 1/2, and shard 2/2 was asked for");
  refused("verify bcast -p 1..13 --shard 1/2", "do not go together: what is");
  refused(std::string(work) + "--root all --shard 1/2", "do not go together: root is");
  std::ofstream(files.path(3)) << "{\"somebody's\": 1}";
  const CommandResult foreign = run(std::string(work) + "--shard 1/2 -o " + files.path(3) + " 2>&1");
  EXPECT_EQ(foreign.exit_code, 2);
  EXPECT_EQ(content(files.path(3)), "{\"somebody's\": 1}");
  EXPECT_EQ(run(std::string(work) + "--shard 1/2 2>&1").exit_code, 2);
  EXPECT_EQ(run(std::string(work) + "--shard 3/2 -o x 2>&1").exit_code, 2);
  EXPECT_EQ(run(std::string(work) + "--shard 1/2 -o /no/such/place 2>&1").exit_code, 1);
}

TEST(CliShard, CombineRefusesHolesAndOverlaps) {
  const Files files;
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(do_shard(files, i, 3).exit_code, 0);
  const auto refused = [&](const std::string& names, const std::string& why) {
    const CommandResult outcome = run("merge " + names + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_TRUE(contains(outcome.out, why)) << outcome.out;
  };
  refused(files.path(1) + " " + files.path(3), "shard 2/3 is missing");
  refused(files.all(3) + files.path(2), "overlap: both have item");
  ASSERT_EQ(do_shard(files, 4, 4).exit_code, 0);
  refused(files.all(4), "shards of one division go together");
  json other = json::parse(content(files.path(3)));
  other["version"] = "0.0.1";
  std::ofstream(files.path(5)) << other.dump();
  refused(files.path(1) + " " + files.path(2) + " " + files.path(5), "the version is");
}

TEST(CliShard, RefutationsArePassedOn) {
  // The test writes a refutation into the files of shards, because no algorithm here is wrong.
  const Files files;
  for (int i = 1; i <= 2; ++i) ASSERT_EQ(do_shard(files, i, 2).exit_code, 0);
  for (const auto& [i, p] : {std::pair{1, 9}, std::pair{2, 5}}) {
    json shard = json::parse(content(files.path(i)));
    json& part = shard["parts"][0][1][0];
    part["refutation"] = {{"p", p}, {"claim", "matching"}};
    part["line"] = "refuted at " + std::to_string(p);
    part["number"] = 0;
    std::ofstream(files.path(i)) << shard.dump();
  }
  const CommandResult outcome = run("merge " + files.all(2));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.out, "REFUTED")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "refuted at 5")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "refuted at 9")) << outcome.out;
}

/// A campaign of one cell in two launches, in which the program ran binomial.
std::string campaign(double today_us, double best_us) {
  json parts = json::array();
  for (int launch = 0; launch < 2; ++launch) {
    json rows = json::array();
    for (const auto& [algorithm, median_us] :
         {std::pair("native", 50.0), std::pair("auto", today_us), std::pair("circulant_pipelined", best_us)}) {
      rows.push_back({{"collective", "bcast"},
                      {"algorithm", algorithm},
                      {"served_by", algorithm},
                      {"p", 4},
                      {"bytes", 65536},
                      {"reps", 9},
                      {"median_us", median_us},
                      {"correct", "-"}});
    }
    const json cell = {{"collective", "bcast"}, {"p", 4},         {"bytes", 65536}, {"program_s", 1},
                       {"calls", 1000},         {"between_s", 0}, {"spread_s", 0},  {"ran", {{"binomial", 1000}}}};
    const json bench = {{"type", "float64"},           {"op", "sum"},      {"root", 0},   {"rows", rows},
                        {"library", "Open MPI 9.9.9"}, {"processor", "x"}, {"host", "n1"}};
    parts.push_back({launch, {{"launch", launch}, {"number", 0}, {"cell", cell}, {"bench", bench}}});
  }
  const json arguments = {
      {"report", "r.json"}, {"program_s", "1"}, {"mpi", "Open MPI"}, {"margin", "0.03"}, {"program", "cg"}};
  const json shard = {{"circoll_shard", 1},
                      {"command", "tune --for"},
                      {"arguments", arguments},
                      {"version", "0"},
                      {"seed", 1},
                      {"items", 2},
                      {"shard", 1},
                      {"of", 1},
                      {"done", true},
                      {"facts", json::object()},
                      {"parts", parts}};
  return shard.dump();
}

TEST(CliShard, CampaignsWriteRulesForGainsOnly) {
  const Files files;
  const std::string merge = "merge " + files.path(1) + " -o " + files.path(2);
  std::ofstream(files.path(1)) << campaign(20, 19.9);
  const CommandResult none = run(merge);
  EXPECT_EQ(none.exit_code, 0) << none.out;
  EXPECT_TRUE(contains(none.out, "nothing to gain: keep auto. No choice was faster than today's in every launch"))
      << none.out;
  EXPECT_TRUE(contains(none.out, "noise and 3 %. Nothing is written\n")) << none.out;
  EXPECT_TRUE(contains(none.out, "none: circulant_pipelined is not sure\n")) << none.out;
  EXPECT_FALSE(std::ifstream(files.path(2))) << "no rules are written";
  std::ofstream(files.path(1)) << campaign(20, 10);
  const CommandResult gain = run(merge);
  EXPECT_EQ(gain.exit_code, 0) << gain.out;
  EXPECT_TRUE(contains(gain.out, "from the times of single calls: 10 ms\n")) << gain.out;
  EXPECT_TRUE(contains(gain.out, "The program was not run with them.")) << gain.out;
  EXPECT_TRUE(contains(gain.out, "Use it by CIRCOLL_PROFILE=" + files.path(2))) << gain.out;
  const json profile = json::parse(content(files.path(2)));
  EXPECT_EQ(profile.at("profile").at("library"), "Open MPI 9.9.9");
  EXPECT_EQ(profile.at("programs").at("cg").at("bcast")[0].at("use"), "circulant_pipelined") << profile;
  EXPECT_EQ(profile.at("programs").at("cg").at("measured").at("report"), "r.json");
}

TEST(CliShard, AJobLargerThanTheReportIsNoticed) {
  const Files files;
  const json size = {{"bytes_from", 8}, {"calls", 2}, {"bytes", 16}, {"mean_s", 1}, {"algorithm", "binomial"}};
  const json row = {{"mode", "blocking"},
                    {"collective", "bcast"},
                    {"comm_size", 2},
                    {"served_by", "binomial"},
                    {"calls", 2},
                    {"bytes", 16},
                    {"mean_s", 1},
                    {"mean_inside_s", 1},
                    {"histogram", json::array({size})}};
  std::ofstream(files.path(1)) << json{{"circoll_report", 1}, {"mpi", "Open MPI v4.1.4"}, {"ranks", 2},
                                       {"calls", 2},          {"native_calls", 0},        {"rows", json::array({row})}};
  EXPECT_TRUE(contains(run("tune --for " + files.path(1) + " --print-job slurm 2>&1").out, "give --program NAME"));
  EXPECT_TRUE(contains(run("tune --for " + files.path(1) + " --program cg --print-job local -- ./cg 2>&1").out,
                       "a job does not run the program"));
  const auto said = [&](const std::string& options) {
    const CommandResult outcome = run("tune --for " + files.path(1) + " --program cg --print-job slurm -o x.json " +
                                      options + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    return outcome.out;
  };
  const std::string few = "circoll: the report has communicators of at most 2 ranks, so the job starts 2 and not ";
  EXPECT_TRUE(contains(said("--nodes 4 --ranks-per-node 32"), few + "128; make the report with 128 ranks\n"));
  EXPECT_FALSE(contains(said("--nodes 2 --ranks-per-node 1"), few));
  EXPECT_FALSE(contains(said("--most-ranks 2"), few));
}

}  // namespace
}  // namespace circoll
