// circoll verify in shards, and circoll merge: from outside.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

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

Outcome do_shard(const Files& files, int i, int n, const std::string& what = work) {
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
      const Outcome outcome = do_shard(files, i, n);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    }
    const Outcome together = run("merge --json " + files.all(n));
    EXPECT_EQ(together.exit_code, 0);
    json rows = without_seconds(together.out);
    EXPECT_EQ(rows, whole) << n;
    const Outcome text = run("merge " + files.all(n));
    EXPECT_TRUE(contains(text.out, ", 0 refuted\n")) << text.out;
  }
}

TEST(CliShard, CellsAreThoseOfTheListedRanks) {
  const std::string listed = "verify allgather/ring -p 2,5..6,400 --jobs 2 ";
  const Files files;
  for (int i = 1; i <= 2; ++i) {
    const Outcome outcome = do_shard(files, i, 2, listed);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, "2 of 4 cells")) << outcome.out;
  }
  const Outcome together = run("merge --json " + files.all(2));
  EXPECT_EQ(together.exit_code, 0);
  EXPECT_EQ(without_seconds(together.out), without_seconds(run(listed + "--json").out));
}

TEST(CliShard, WhatIsDoneIsNotDoneAgain) {
  const Files files;
  ASSERT_EQ(do_shard(files, 2, 3).exit_code, 0);
  const std::string before = content(files.path(2));
  const Outcome again = do_shard(files, 2, 3);
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
    const Outcome outcome = run(command + " -o " + files.path(1) + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_TRUE(contains(outcome.out, why)) << outcome.out;
    EXPECT_EQ(content(files.path(1)), before);
  };
  refused(std::string(work) + "--shard 2/2", "has shard 1/2, and shard 2/2 was asked for");
  refused("verify bcast -p 1..13 --shard 1/2", "do not go together: what is");
  refused(std::string(work) + "--root all --shard 1/2", "do not go together: root is");
  std::ofstream(files.path(3)) << "{\"somebody's\": 1}";
  const Outcome foreign = run(std::string(work) + "--shard 1/2 -o " + files.path(3) + " 2>&1");
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
    const Outcome outcome = run("merge " + names + " 2>&1");
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
  // What a shard says of an algorithm that is refuted is taken from its file: no algorithm here is wrong.
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
  const Outcome outcome = run("merge " + files.all(2));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.out, "REFUTED")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "refuted at 5")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "refuted at 9")) << outcome.out;
}

}  // namespace
}  // namespace circoll
