// The command `circoll traffic`, from outside: messages between the parts of a machine, as they are and relabelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/command.hpp"

namespace circoll {
namespace {

std::string file(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + "circoll_traffic_" + name;
  std::ofstream(path) << text;
  return path;
}

std::string topology() {
  return file("topology.conf",
              "SwitchName=top Switches=group[0-1]\nSwitchName=group0 Switches=s[0-1]\nSwitchName=group1 Switches=s2\n"
              "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=s2 Nodes=n[8-15]\n");
}
/// Hosts whose groups take turns, so that neighbours are far from one another.
std::string hosts() { return file("hosts", "n0\nn8\nn1\nn9\nn4\nn10\nn5\nn11\n"); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(CliTraffic, ATableWithTheVerdictLast) {
  const CommandResult result =
      run("traffic allreduce/rabenseifner --allocation " + hosts() + " --topology " + topology() + " -b 8Mi --relabel");
  EXPECT_EQ(result.exit_code, 0);
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(lines.front(), "allreduce/rabenseifner, p = 8 on 8 hosts, m = 8 MiB");
  // At distance 1 each rank sends half of the vector, and gets half of the result: 64 MiB of 112. Two groups of four
  // ranks need no more than the vector in each direction, twice.
  EXPECT_EQ(lines.back(),
            "64 MiB of 112 MiB (57.1 %) pass between level 1 switches; relabelled (sorted) 16 MiB, 75.0 % less.");
}

/// A slow host is a switch of its own. It becomes a leaf of trees, which passes nothing on.
TEST(CliTraffic, ASlowHostGetsLessToPassOn) {
  const std::string slow = file("slow.conf",
                                "SwitchName=slow Nodes=h4\nSwitchName=others Nodes=h[0-3,5-7]\n"
                                "SwitchName=top Switches=slow,others\n");
  const std::string machine = " --allocation " + file("all", "h[0-7]\n") + " --topology " + slow + " -b 1Mi --relabel";
  for (const auto& [id, end] :
       {std::pair("bcast/binomial", "relabelled (sorted) 1 MiB, 66.7 % less."),
        std::pair("reduce/binomial", "relabelled (sorted) 1 MiB, 66.7 % less."),
        std::pair("gather/binomial", "relabelled (sorted) 128 KiB, 85.7 % less."),
        std::pair("allreduce/knomial", "relabelled (sorted) 2 MiB, 75.0 % less."),
        // Here all ranks do the same, so that no place is better.
        std::pair("allreduce/recursive_doubling", "relabelled (as they are) 6 MiB, 0.0 % less.")}) {
    const CommandResult result = run("traffic " + std::string(id) + machine);
    EXPECT_TRUE(lines_of(result.out).back().ends_with(end)) << result.out;
  }
}

TEST(CliTraffic, WhatGrowsALotIsAFactor) {
  // A ring whose neighbours are in different groups, but for the first two. Relabelled, nearly all are in one.
  std::string places = "a/h0\n";
  for (int i = 1; i < 64; ++i) places += (i % 2 == 1 ? "a/h" : "b/h") + std::to_string(i) + "\n";
  const std::string text = run("traffic allgather/ring --allocation " + file("places", places) + " --relabel").out;
  EXPECT_TRUE(contains(text, "31-fold\n")) << text;
  for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), 100U) << line;
}

TEST(CliTraffic, AsJson) {
  const auto json = nlohmann::json::parse(
      run("traffic allgather/ring --allocation " + hosts() + " --topology " + topology() + " -b 800 --relabel --json")
          .out);
  EXPECT_EQ(json.at("p"), 8);
  ASSERT_EQ(json.at("parts").size(), 3U);
  EXPECT_EQ(json.at("parts")[1].at("parts"), 3);
  const auto& ring = json.at("algorithms")[0];
  EXPECT_EQ(ring.at("blocks"), 8);
  ASSERT_EQ(ring.at("levels").size(), 4U);
  EXPECT_EQ(ring.at("levels")[0].at("messages"), 8 * 7) << "every step leaves the group";
  EXPECT_DOUBLE_EQ(ring.at("levels")[0].at("bytes"), 56 * 100);
  EXPECT_EQ(ring.at("levels")[3].at("messages"), 0) << "each rank has a host of its own";
  EXPECT_EQ(ring.at("relabelled").at("levels")[0].at("messages"), 2 * 7) << "a ring leaves each group once";
  EXPECT_EQ(ring.at("relabelled").at("levels")[0].at("busiest").at("out").at("messages"), 7);
  std::vector<int> labels = ring.at("relabelled").at("labels");
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(CliTraffic, RanksOfAHostAndTheFirstRanks) {
  const auto json = nlohmann::json::parse(
      run("traffic bcast/linear --allocation " + hosts() + " --cores 2 -p 3 --root 2 -b 1Ki --json").out);
  EXPECT_EQ(json.at("p"), 3);
  const auto& levels = json.at("algorithms")[0].at("levels");
  ASSERT_EQ(levels.size(), 2U) << "nothing is known above the hosts";
  EXPECT_EQ(levels[0].at("bytes"), 2048);
  EXPECT_EQ(levels[1].at("bytes"), 0);
}

TEST(CliTraffic, SeveralAlgorithmsAndJobs) {
  const std::string damaged = file("damaged", "n0\nnowhere\n");
  const std::string odd = file("odd", "n0\nn8\nn1\n");
  const CommandResult result = run("traffic allgather/swing allgather/ring --allocation " + hosts() + " " + damaged +
                                   " " + odd + " --topology " + topology() + " --json");
  EXPECT_EQ(result.exit_code, 0);
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(contains(nlohmann::json::parse(lines[0]).at("error"), damaged + ":2: ")) << lines[0];
  const auto small = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(small.at("allocation"), odd);
  EXPECT_TRUE(contains(small.at("algorithms")[0].at("unmet"), "even")) << lines[1];
  EXPECT_EQ(small.at("algorithms")[1].at("levels")[0].at("messages"), 2 * 2);
  EXPECT_EQ(nlohmann::json::parse(lines[2]).at("p"), 8);
  EXPECT_FALSE(contains(lines[2], "\"labels\"")) << "of many jobs numbers are wanted";
}

TEST(CliTraffic, ARefusedAlgorithmIsSaid) {
  const CommandResult result = run("traffic allgather/swing --allocation " + file("odd", "n0\nn8\nn1\n"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "allgather/swing needs an even number of ranks, and p = 3.\n");
}

TEST(CliTraffic, WritesSchedulesThatAreProven) {
  for (const std::string id :
       {"allreduce/rabenseifner", "allgather/circulant_optimal", "reduce_scatter/swing", "bcast/scatter_allgather"}) {
    const std::string written = testing::TempDir() + "circoll_traffic_schedules";
    std::filesystem::remove(written);
    const std::string arguments = "traffic " + id + " --allocation " + hosts() + " --topology " + topology();
    const CommandResult counted = run(arguments + " --relabel --schedules " + written);
    ASSERT_EQ(counted.exit_code, 0) << id;
    const CommandResult verified = run("verify " + written + " 2>&1");
    EXPECT_EQ(verified.exit_code, 0) << id << "\n" << verified.out;
    // The file's schedules have the traffic that was counted by labels.
    const auto labels = nlohmann::json::parse(run(arguments + " --relabel --json").out);
    const auto file_itself = nlohmann::json::parse(
        run("traffic file:" + written + " --allocation " + hosts() + " --topology " + topology() + " --json").out);
    const auto& as_counted = labels.at("algorithms")[0].at("relabelled").at("levels");
    const auto& as_written = file_itself.at("algorithms")[0].at("levels");
    EXPECT_EQ(as_counted, as_written) << id;
  }
}

TEST(CliTraffic, TheJobOfSlurmOrPbs) {
  const std::string arguments = "traffic allgather/ring --json --topology " + topology();
  const auto ranks = [](const CommandResult& result) { return nlohmann::json::parse(result.out).at("p"); };
  setenv("SLURM_JOB_NODELIST", "n[0,8]", 1);
  setenv("SLURM_TASKS_PER_NODE", "3,2", 1);
  EXPECT_EQ(ranks(run(arguments)), 5);
  EXPECT_EQ(ranks(run(arguments + " --cores 4")), 8);
  EXPECT_EQ(ranks(run(arguments + " --allocation " + hosts())), 8) << "a file that is named comes first";
  unsetenv("SLURM_TASKS_PER_NODE");
  EXPECT_EQ(ranks(run(arguments)), 2);
  setenv("SLURM_JOB_NODELIST", "n[0", 1);
  EXPECT_EQ(run(arguments + " 2>&1").exit_code, 2);
  setenv("PBS_NODEFILE", hosts().c_str(), 1);
  EXPECT_EQ(run(arguments + " 2>&1").exit_code, 2) << "Slurm's list comes first";
  unsetenv("SLURM_JOB_NODELIST");
  EXPECT_EQ(ranks(run(arguments)), 8) << "the file of PBS";
  unsetenv("PBS_NODEFILE");
  EXPECT_EQ(run(arguments + " 2>&1").exit_code, 2);
}

TEST(CliTraffic, RefusesMisuse) {
  unsetenv("SLURM_JOB_NODELIST");
  const std::string given = " --allocation " + hosts();
  for (const std::string& arguments : std::vector<std::string>{
           "allgather/ring", "allgather/none" + given, given, "allgather/ring --allocation /nowhere",
           "allgather/ring -p 9" + given, "allgather/ring --root 1" + given, "bcast/binomial --root 8" + given,
           "allgather/ring --cores 0" + given, "allgather/ring --topology " + hosts() + given,
           "scan/linear --relabel" + given, "allgather/ring:relabel=2 --relabel" + given,
           "allgather/ring" + given + " " + hosts(), "allgather/ring --schedules x" + given,
           "allgather/ring allgather/swing --relabel --schedules x" + given,
           "allgather/swing --relabel -p 3 --schedules x" + given,
           "allgather/ring --allocation " + file("outside", "elsewhere\n") + " --topology " + topology()}) {
    const CommandResult result = run("traffic " + arguments + " 2>&1");
    EXPECT_EQ(result.exit_code, 2) << arguments << "\n" << result.out;
    EXPECT_FALSE(result.out.empty());
  }
}

}  // namespace
}  // namespace circoll
