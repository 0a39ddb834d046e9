// The documents that the circoll binary writes are those of docs, and README.md has their numbers.
#include <gtest/gtest.h>

#include <string>

#include "circoll/algorithm.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

TEST(Cli, CostPageIsInTheDocuments) {
  const Outcome page = run("cost --page");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_TRUE(page.out == content(CIRCOLL_DOCS "/costs.md"))
      << "docs/costs.md is out of date: circoll cost --page > docs/costs.md";
  for (const Algorithm* algorithm : all_algorithms()) {
    EXPECT_TRUE(contains(page.out, "### " + algorithm->id(algorithm->collectives.front()) + "\n"));
  }
}

TEST(Cli, PageOfFailuresIsInTheDocuments) {
  const Outcome page = run("faults --page");
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_TRUE(page.out == content(CIRCOLL_DOCS "/faults.md"))
      << "docs/faults.md is out of date: circoll faults --page > docs/faults.md";
  for (const Algorithm* algorithm : all_algorithms()) {
    EXPECT_TRUE(contains(page.out, "\n| " + std::string(algorithm->name) + " | "));
  }
}

TEST(Cli, PagesOfAlgorithmsAndPeersAreInTheDocuments) {
  for (const std::string name : {"algorithms", "peers"}) {
    const Outcome page = run("list --page " + name);
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_TRUE(page.out == content(CIRCOLL_DOCS "/" + name + ".md"))
        << "docs/" << name << ".md is out of date: circoll list --page " << name << " > docs/" << name << ".md";
  }
  const std::string algorithms = run("list --page algorithms").out;
  for (const Algorithm* algorithm : all_algorithms()) {
    const std::string file =
        std::string(to_string(algorithm->collectives.front())) + "/" + std::string(algorithm->name);
    EXPECT_TRUE(contains(algorithms, "(../core/algorithms/" + file + ".cpp)")) << file;
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
