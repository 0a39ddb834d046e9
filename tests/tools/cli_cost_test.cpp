// The command `circoll cost`, from outside: times of one algorithm, the ranking of a collective, times over sizes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

TEST(Cli, CostOfAnAlgorithm) {
  const CommandResult text = run("cost allreduce/rabenseifner -p 12 --bytes 1Mi");
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
  // A segment in bytes is a share of the part that the algorithm cuts. 64 Ki are a sixteenth of a twelfth of 12 Mi.
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
  const CommandResult text = run("cost allreduce -p 6 --bytes 8 --op max");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_FALSE(contains(text.out, "idempotent operator")) << text.out;
  EXPECT_LT(text.out.find("allreduce/circulant"), text.out.find("allreduce/linear")) << "the best comes first";
}

TEST(Cli, CostRefusesMisuse) {
  for (const std::string arguments :
       {"", "allreduce", "allreduce/none -p 4", "nothing -p 4", "reduce -p 4 --root 4", "allreduce -p 4 --root 1",
        "allreduce -p 0", "allreduce -p 4 --bytes 1Pi1", "allreduce -p 4 --bytes -1", "allreduce -p 4 --alpha -1",
        "allreduce -p 4 --op none", "allgather/neighbor_exchange -p 5", "allreduce/ring -p 4 --sizes",
        "allreduce -p 4 --bytes 8 --sizes", "barrier -p 4 --sizes", "allreduce --page"}) {
    EXPECT_EQ(run("cost " + arguments + " 2>&1").exit_code, 2) << arguments;
  }
}

TEST(Cli, CostOverSizes) {
  const auto data = nlohmann::json::parse(run("cost allreduce -p 36 --bytes 64Mi --sizes --json").out);
  const auto& sizes = data.at("sizes");
  EXPECT_EQ(sizes.front(), 8);
  EXPECT_EQ(sizes.back(), 64 << 20);
  EXPECT_EQ(sizes.size(), 4U * 23 + 1) << "four per doubling";
  const auto& times = data.at("times_s");
  EXPECT_GE(times.size(), 10U);
  for (const auto& [name, of] : times.items()) EXPECT_EQ(of.size(), sizes.size()) << name;
  EXPECT_EQ(data.at("fastest").size(), sizes.size());
  // The rankings agree, also on both sides of a crossover.
  const auto fastest = [](std::int64_t bytes) {
    const std::string command = "cost allreduce -p 36 --json --bytes " + std::to_string(bytes);
    const std::string id = nlohmann::json::parse(run(command).out).at("ranking").at(0).at("id");
    return id.substr(id.find('/') + 1);
  };
  ASSERT_GE(data.at("crossovers").size(), 1U) << "short vectors in q rounds, long ones in p parts";
  for (const auto& crossover : data.at("crossovers")) {
    const std::int64_t bytes = crossover.at("bytes");
    EXPECT_EQ(fastest(bytes), crossover.at("to"));
    EXPECT_EQ(fastest(bytes - 1), crossover.at("from"));
  }
  EXPECT_EQ(fastest(8), data.at("crossovers").front().at("from"));
  EXPECT_EQ(fastest(8), data.at("fastest").front());
  const std::string text = run("cost allreduce -p 36 --bytes 64Mi --sizes").out;
  for (const auto& crossover : data.at("crossovers"))
    EXPECT_TRUE(contains(text, crossover.at("to").get<std::string>()));
  for (const std::string collective : {"bcast", "alltoallv", "exscan"}) {
    EXPECT_EQ(run("cost " + collective + " -p 5 --bytes 1Ki --alpha 0 --beta 0 --gamma 0 --sizes").exit_code, 0)
        << "a machine that costs nothing";
  }
}

}  // namespace
}  // namespace circoll
