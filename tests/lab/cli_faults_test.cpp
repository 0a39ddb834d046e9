// circoll faults: tables, JSON, rankings, pictures, and misuse.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

using nlohmann::json;

TEST(Cli, FaultsTellsRoundByRound) {
  const CommandResult outcome = run("faults allreduce/rabenseifner -p 4");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out,
            "allreduce/rabenseifner, p = 4, 4 blocks, one rank fails, keep = buf\n"
            "   k  class   copies        lost  pieces\n"
            "   0  SURV         0      4 of 4       3\n"
            "   1  MIX          0      2 of 4       -\n"
            "   2  MIX          0      1 of 4       -\n"
            "   3  FULL         1      0 of 4       1\n"
            "   4  FULL         3      0 of 4       1\n");
  const CommandResult tree = run("faults allreduce/binomial -p 8 --round 2");
  EXPECT_TRUE(contains(tree.out, "SURV: 0 4, FULL: 1-3 5-7")) << tree.out;
  const CommandResult orders = run("faults allreduce/recursive_doubling -p 4 --round 0 --orders");
  EXPECT_TRUE(contains(orders.out, "SURV or FULL")) << orders.out;
}

TEST(Cli, FaultsAsJson) {
  const CommandResult outcome =
      run("faults allreduce/recursive_doubling -p 8 --failed 2,3 --keep keep --orders --json");
  ASSERT_EQ(outcome.exit_code, 0);
  const json all = json::parse(outcome.out);
  EXPECT_EQ(all.at("id"), "allreduce/recursive_doubling");
  EXPECT_EQ(all.at("keep"), "keep");
  EXPECT_EQ(all.at("rounds"), 3);
  ASSERT_EQ(all.at("failures").size(), 4U);
  const json& pair = all.at("failures").at(1);
  EXPECT_EQ(pair.at("failed"), json({2, 3}));
  EXPECT_EQ(pair.at("class"), "SURV");
  EXPECT_EQ(pair.at("copies"), 0);
  EXPECT_EQ(pair.at("lost"), 1);
  EXPECT_EQ(all.at("failures").at(2).at("class"), "BOTH");
  // In round 1 both send to survivors: four choices.
  EXPECT_EQ(pair.at("within").size(), 4U);
  EXPECT_EQ(pair.at("within").at(0).at("class"), "SURV");
  EXPECT_EQ(pair.at("within").at(3).at("class"), "BOTH");
}

TEST(Cli, FaultsRanksByWhatIsLost) {
  const CommandResult outcome = run("faults allreduce -p 8 --json");
  ASSERT_EQ(outcome.exit_code, 0);
  const json all = json::parse(outcome.out);
  double before = 1;
  std::size_t doubling = 0, ring = 0;
  for (std::size_t i = 0; i < all.at("ranking").size(); ++i) {
    const json& entry = all.at("ranking").at(i);
    EXPECT_LE(entry.at("full"), before);
    before = entry.at("full");
    EXPECT_NEAR(entry.at("full").get<double>() + entry.at("surv").get<double>() + entry.at("mix").get<double>() +
                    entry.at("none").get<double>(),
                1, 1e-9);
    if (entry.at("id") == "allreduce/recursive_doubling") doubling = i;
    if (entry.at("id") == "allreduce/ring") ring = i;
  }
  EXPECT_LT(doubling, ring);
  EXPECT_NEAR(all.at("ranking").at(doubling).at("full").get<double>(), 2.0 / 3, 1e-9);
  EXPECT_EQ(all.at("ranking").at(ring).at("full_from"), 8);
  EXPECT_TRUE(contains(run("faults allgather -p 5").out, "needs an even number of ranks"))
      << "what cannot serve is listed";
}

TEST(Cli, FaultsTellsHowToGoOn) {
  const CommandResult outcome = run("faults allreduce/recursive_doubling -p 8 --failed 5 --keep keep --repair --json");
  ASSERT_EQ(outcome.exit_code, 0);
  const json ways = json::parse(outcome.out).at("ways_on");
  ASSERT_EQ(ways.size(), 4U);
  // At first nobody knows the data of rank 5, so that the result has seven contributions. In the end nothing is to be
  // done.
  EXPECT_EQ(ways.at(0).at("gives"), "SURV");
  EXPECT_EQ(ways.at(0).at("repair").at("pieces"), 7);
  EXPECT_EQ(ways.at(1).at("gives"), "FULL");
  EXPECT_EQ(ways.at(1).at("repair").at("pieces"), 4);
  EXPECT_EQ(ways.at(3).at("repair").at("rounds"), 0);
  EXPECT_EQ(ways.at(3).at("advice"), "nothing");
  EXPECT_GT(ways.at(0).at("restart").at("time_s").get<double>(), 0);
  for (const json& way : ways) {
    if (way.at("advice") == "nothing") continue;
    const bool cheaper = way.at("repair").at("time_s").get<double>() <= way.at("restart").at("time_s").get<double>();
    EXPECT_EQ(way.at("advice"), cheaper ? "repair" : "restart");
  }
  const CommandResult one = run("faults allreduce/recursive_doubling -p 4 --failed 1 --round 1 --repair");
  EXPECT_TRUE(contains(one.out, "allreduce/recursive_doubling/repair")) << one.out;
  const CommandResult lost = run("faults bcast/binomial -p 4 --failed 0 --round 0 --repair");
  EXPECT_TRUE(contains(lost.out, "only the failed ranks had what the survivors need")) << lost.out;
  EXPECT_TRUE(contains(lost.out, "the root has failed")) << lost.out;
  const std::string path = testing::TempDir() + "circoll_repair_plot.svg";
  ASSERT_EQ(run("faults allreduce/ring -p 5 --failed 2 --round 6 --repair --picture " + path).exit_code, 0);
  EXPECT_EQ(content(path).rfind("<svg", 0), 0U);
  std::remove(path.c_str());
}

TEST(Cli, FaultsPageHasAllAlgorithms) {
  const CommandResult page = run("faults --page");
  EXPECT_EQ(page.exit_code, 0);
  for (const Algorithm* algorithm : all_algorithms())
    EXPECT_TRUE(contains(page.out, "\n| " + std::string(algorithm->name) + " | ")) << algorithm->name;
}

TEST(Cli, FaultsRefusesMisuse) {
  for (const std::string arguments : {"",
                                      "allreduce/ring",
                                      "allreduce/none -p 4",
                                      "nothing -p 4",
                                      "allreduce/ring -p 65",
                                      "allreduce/ring -p 1",
                                      "allreduce/ring -p 4 --failed 4",
                                      "allreduce/ring -p 4 --failed 1,1",
                                      "allreduce/ring -p 4 --failed 0,1,2,3",
                                      "allreduce/ring -p 4 --failed x",
                                      "allreduce/ring -p 4 --failed ,",
                                      "allreduce/ring -p 4 --round 7",
                                      "allreduce/ring -p 4 --round -1",
                                      "allreduce/ring -p 4 --round x",
                                      "allreduce/ring -p 4 --keep all",
                                      "allreduce/ring -p 4 --root 1",
                                      "bcast/binomial -p 4 --root 4",
                                      "allreduce -p 4 --failed 1",
                                      "allreduce -p 4 --repair",
                                      "allreduce/ring -p 4 --repair --orders",
                                      "allreduce/ring -p 4 --repair --picture none.svg",
                                      "allreduce/ring -p 4 --picture none.svg",
                                      "allreduce -p 4 --picture none.svg",
                                      "allgather/neighbor_exchange -p 5",
                                      "allreduce --page"}) {
    const CommandResult outcome = run("faults " + arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments << outcome.out;
    EXPECT_FALSE(outcome.out.empty()) << arguments;
  }
  EXPECT_EQ(run("faults allreduce/ring -p 5 --failed 2 --round 6 --repair --picture /none/such.svg 2>&1").exit_code, 1);
}

}  // namespace
}  // namespace circoll
