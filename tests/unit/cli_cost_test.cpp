// The command `circoll cost`, from outside: times of one algorithm, the ranking of a collective, its plots.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"
#include "support/xml.hpp"

namespace circoll {
namespace {

TEST(Cli, CostOfAnAlgorithm) {
  const Outcome text = run("cost allreduce/rabenseifner -p 12 --bytes 1Mi");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_TRUE(contains(text.out, "T = (2L + [r>0]) alpha + 2[r>0] alpha_uni + ")) << text.out;
  EXPECT_TRUE(contains(text.out, "388 us\n")) << text.out;
  const auto json = nlohmann::json::parse(run("cost allreduce/rabenseifner -p 12 --bytes 1Mi --alpha 1 --beta 1e-6 "
                                              "--gamma 0 --f-alpha 0.5 --f-beta 0.5 --json")
                                              .out);
  EXPECT_EQ(json.at("bytes"), 1 << 20);
  EXPECT_EQ(json.at("terms").at("alpha"), 7);
  EXPECT_EQ(json.at("terms").at("alpha_uni"), 2);
  EXPECT_EQ(json.at("terms").at("bytes"), 9 << 18);      // 18/8 m
  EXPECT_EQ(json.at("terms").at("bytes_uni"), 3 << 19);  // 12/8 m
  EXPECT_DOUBLE_EQ(json.at("time_s"), 7 + 2 * 0.5 + (9 << 18) * 1e-6 + (3 << 19) * 0.5e-6);
  // A segment in bytes is a share of what the algorithm cuts: of a twelfth of 12 Mi, 64 Ki are a sixteenth.
  const auto in_bytes =
      nlohmann::json::parse(run("cost allreduce/segmented_ring:segment=64Ki -p 12 --bytes 12Mi --json").out);
  EXPECT_EQ(in_bytes.at("params").at("segments"), 16);
  const std::string file = testing::TempDir() + "circoll_cost_machine.json";
  std::ofstream(file) << R"({"circoll_machine": 1, "name": "slow", "alpha_s": 1, "beta_s_per_byte": 1e-6,
                            "gamma_s_per_byte": 1e-6, "f_alpha": 0.5, "f_beta": 0.5})";
  const auto slow =
      nlohmann::json::parse(run("cost bcast/linear -p 4 --bytes 0 --alpha 2 --machine " + file + " --json").out);
  EXPECT_DOUBLE_EQ(slow.at("time_s"), 3 * 0.5 * 2);
  EXPECT_EQ(run("cost bcast -p 4 --machine /nowhere.json").exit_code, 2);
  const auto segmented =
      nlohmann::json::parse(run("cost bcast/pipeline:segments=5 -p 6 --bytes 100 --root 3 --json").out);
  EXPECT_EQ(segmented.at("params").at("segments"), 5);
  EXPECT_EQ(segmented.at("terms").at("alpha").get<int>() + segmented.at("terms").at("alpha_uni").get<int>(), 9);
}

TEST(Cli, CostRanksACollective) {
  const auto json = nlohmann::json::parse(run("cost reduce -p 48 --bytes 64Ki --root 7 --op sum --json").out);
  const auto& ranking = json.at("ranking");
  EXPECT_EQ(ranking.size() + json.at("ruled_out").size(), algorithms_of(Collective::reduce).size());
  for (std::size_t i = 1; i < ranking.size(); ++i) EXPECT_GE(ranking[i].at("time_s"), ranking[i - 1].at("time_s"));
  const auto allreduce = nlohmann::json::parse(run("cost allreduce -p 6 --bytes 8 --json").out);
  std::map<std::string, std::string> ruled_out;
  for (const auto& out : allreduce.at("ruled_out")) ruled_out[out.at("id")] = out.at("reason");
  ASSERT_EQ(ruled_out.size(), 3U);
  EXPECT_TRUE(contains(ruled_out["allreduce/circulant_idempotent"], "idempotent"));
  EXPECT_TRUE(contains(ruled_out["allreduce/leaders"], "node by node"));
  EXPECT_TRUE(contains(ruled_out["allreduce/leaders_circulant"], "node by node"));
  const Outcome text = run("cost allreduce -p 6 --bytes 8 --op max");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_FALSE(contains(text.out, "idempotent operator")) << text.out;
  EXPECT_LT(text.out.find("allreduce/circulant"), text.out.find("allreduce/linear")) << "the best comes first";
}

TEST(Cli, CostRefusesMisuse) {
  for (const std::string arguments :
       {"", "allreduce", "allreduce/none -p 4", "nothing -p 4", "reduce -p 4 --root 4", "allreduce -p 4 --root 1",
        "allreduce -p 0", "allreduce -p 4 --bytes 1Pi1", "allreduce -p 4 --bytes -1", "allreduce -p 4 --alpha -1",
        "allreduce -p 4 --op none", "allgather/neighbor_exchange -p 5", "allreduce/ring -p 4 --plot none.svg",
        "allreduce -p 4 --bytes 8 --plot none.svg", "barrier -p 4 --plot none.svg", "allreduce --page"}) {
    EXPECT_EQ(run("cost " + arguments + " 2>&1").exit_code, 2) << arguments;
  }
  EXPECT_EQ(run("cost allreduce -p 4 --plot /none/such.svg 2>&1").exit_code, 1);
}

TEST(Cli, CostPlotsWithCrossovers) {
  const std::string path = testing::TempDir() + "circoll_cost_plot.svg";
  const Outcome outcome = run("cost allreduce -p 36 --bytes 64Mi --plot " + path);
  EXPECT_TRUE(contains(content(path), ">slower, left out: "));
  EXPECT_EQ(outcome.exit_code, 0);
  const std::string svg = content(path);
  std::filesystem::remove(path);
  EXPECT_EQ(xml::ill_formed(svg), "");
  EXPECT_EQ(xml::occurrences(svg, "<polyline"), 10U);
  EXPECT_TRUE(contains(svg, ">circulant_optimal</text>"));
  // Short vectors in q rounds, long ones in p parts: at least one crossover, and a circle for each.
  EXPECT_GE(xml::occurrences(svg, "<circle class=\"crossover\""), 1U);
  const auto fastest = [](const std::string& bytes) {
    return nlohmann::json::parse(run("cost allreduce -p 36 --json --bytes " + bytes).out).at("ranking")[0].at("id");
  };
  EXPECT_NE(fastest("8"), fastest("64Mi"));
  for (const std::string collective : {"bcast", "alltoallv", "exscan"}) {
    EXPECT_EQ(run("cost " + collective + " -p 5 --bytes 1Ki --alpha 0 --beta 0 --gamma 0 --plot " + path).exit_code, 0);
    EXPECT_EQ(xml::ill_formed(content(path)), "") << "a machine that costs nothing";
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace circoll
