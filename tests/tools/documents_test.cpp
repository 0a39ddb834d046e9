// The pages that the circoll binary writes have all algorithms, costs do not change unnoticed, and README.md has the
// numbers of the registry.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

/// The costs of all algorithms in a few cases: rounds, one-way rounds, bytes, one-way bytes, bytes combined.
nlohmann::ordered_json costs() {
  nlohmann::ordered_json all;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      const std::string id = algorithm->id(collective);
      for (const std::string p : {"5", "8", "36"}) {
        const CommandResult outcome = run("cost " + id + " -p " + p + " --bytes 36Ki --json 2>/dev/null");
        if (outcome.exit_code != 0) continue;  // it does not serve this p
        const auto priced = nlohmann::ordered_json::parse(outcome.out);
        std::string terms;
        for (const auto& [name, value] : priced.at("terms").items()) terms += (terms.empty() ? "" : " ") + value.dump();
        all[id]["p = " + p] = terms;
      }
    }
  }
  return all;
}

TEST(Cli, CostsAreTheOnesOfBefore) {
  const std::string file = CIRCOLL_TESTS "/costs.json";
  const nlohmann::ordered_json now = costs();
  if (std::getenv("CIRCOLL_WRITE_COSTS") != nullptr) std::ofstream(file) << now.dump(1) << "\n";
  const auto before = nlohmann::ordered_json::parse(content(file));
  for (const auto& [id, of] : now.items()) {
    EXPECT_TRUE(before.contains(id) && before.at(id) == of)
        << id << " costs " << of << "; if that is meant: CIRCOLL_WRITE_COSTS=1 build/dev/tests/documents_test";
  }
  EXPECT_EQ(now.size(), before.size()) << "an algorithm is gone";
}

TEST(Cli, PagesHaveAllAlgorithms) {
  const CommandResult costs_page = run("cost --page");
  EXPECT_EQ(costs_page.exit_code, 0);
  const CommandResult algorithms = run("list --page algorithms");
  EXPECT_EQ(algorithms.exit_code, 0);
  EXPECT_EQ(run("list --page peers").exit_code, 0);
  for (const Algorithm* algorithm : all_algorithms()) {
    EXPECT_TRUE(contains(costs_page.out, "### " + algorithm->id(algorithm->collectives.front()) + "\n"));
    const std::string file =
        std::string(to_string(algorithm->collectives.front())) + "/" + std::string(algorithm->name);
    EXPECT_TRUE(contains(algorithms.out, "(../core/algorithms/" + file + ".cpp)")) << file;
  }
  EXPECT_EQ(run("list --page costs").exit_code, 2);
  EXPECT_EQ(run("list --page peers --json").exit_code, 2);
}

TEST(Cli, ReadmeHasTheNumbersOfTheRegistry) {
  const std::string page = run("list --page algorithms").out;
  const std::size_t end = page.find(" collectives.");
  ASSERT_NE(end, std::string::npos);
  const std::size_t begin = page.rfind(". ", end) + 2;
  EXPECT_TRUE(contains(content(CIRCOLL_DOCS "/../README.md"), page.substr(begin, end - begin)))
      << "README.md should say: " << page.substr(begin, end - begin) << " collectives";
}

}  // namespace
}  // namespace circoll
