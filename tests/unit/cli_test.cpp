// The circoll binary, from outside: output, exit codes, help.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "circoll/algorithm.hpp"
#include "circoll/circoll.h"
#include "circoll/picture.hpp"
#include "circoll/text.hpp"

namespace circoll {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string out;  ///< standard output; with 2>&1 in the arguments also standard error
};

Outcome run(const std::string& arguments) {
  Outcome outcome;
  std::FILE* pipe = popen((std::string(CIRCOLL_CLI) + " " + arguments).c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.out.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

bool contains(const std::string& text, std::string_view what) { return text.find(what) != text.npos; }

constexpr std::string_view id = "allreduce/circulant_optimal";
const std::string show = "show " + std::string(id) + " ";

TEST(Cli, HelpEndsWithExamples) {
  for (const std::string command : {"", "list", "show"}) {
    const Outcome outcome = run(command + " --help");
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_TRUE(contains(outcome.out, "Examples:\n  circoll ")) << outcome.out;
  }
}

TEST(Cli, VerifySaysWhatIsProven) {
  const Outcome proven = run("verify allgather reduce/circulant -p 1..9 --root all --jobs 2 2>&1");
  EXPECT_EQ(proven.exit_code, 0);
  EXPECT_TRUE(contains(proven.out, "allgather/circulant_optimal                 proven"));
  EXPECT_TRUE(contains(proven.out, ", 0 refuted\n")) << proven.out;
  const auto rows = nlohmann::json::parse(run("verify bcast -p 7 --root 0,6 --segments 1,9 --json").out);
  ASSERT_EQ(rows.size(), algorithms_of(Collective::bcast).size());
  EXPECT_EQ(rows[0].at("instances"), 4);
  EXPECT_EQ(rows[0].at("proven"), true);
}

TEST(Cli, LocalExecutesAndChecks) {
  for (const std::string threads : {"--threads", "--single-thread"}) {
    const Outcome outcome = run("local reduce_scatter/circulant -p 6 --count 100 --type int32 --op sum " + threads);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(contains(outcome.out, "correct")) << outcome.out;
  }
}

TEST(Cli, VersionIsThatOfTheLibrary) { EXPECT_EQ(run("--version").out, std::string(circoll_version()) + "\n"); }

TEST(Cli, ListNamesEveryAlgorithm) {
  const Outcome outcome = run("list");
  EXPECT_EQ(outcome.exit_code, 0);
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      EXPECT_TRUE(contains(outcome.out, algorithm->id(collective) + "\n")) << outcome.out;
    }
    EXPECT_TRUE(contains(outcome.out, algorithm->summary)) << outcome.out;
  }
}

TEST(Cli, ListOfOneCollective) {
  const Outcome outcome = run("list --collective allgatherv");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(contains(outcome.out, "allgatherv/circulant_optimal\n"));
  EXPECT_FALSE(contains(outcome.out, "allreduce/"));
}

TEST(Cli, ListAsJsonGivesDeclaredAndCountedCosts) {
  const auto all = nlohmann::json::parse(run("list --json").out);
  std::size_t ids = 0;
  for (const Collective collective : all_collectives) ids += algorithms_of(collective).size();
  ASSERT_EQ(all.size(), ids);
  for (const auto& entry : all) {
    const Selection selection = parse_selection(entry.at("id").get<std::string>());
    ASSERT_NE(selection.algorithm, nullptr);
    std::size_t sizes = 0;
    for (Rank p = 2; p <= 16; ++p) {
      const OperatorTraits any{.commutative = true, .idempotent = true};
      sizes += unmet_need(*selection.algorithm, p, any).empty() ? 1U : 0U;
    }
    EXPECT_EQ(entry.at("cost").size(), sizes) << selection.id();
    for (const auto& cost : entry.at("cost")) {
      const Cost declared = selection.algorithm->cost({.size = cost.at("p").get<Rank>()});
      EXPECT_EQ(cost.at("declared").at("rounds"), declared.rounds);
      EXPECT_EQ(cost.at("declared").at("sent"), declared.sent);
      EXPECT_EQ(cost.at("declared").at("reduced"), declared.reduced);
      EXPECT_EQ(cost.at("declared"), cost.at("counted")) << selection.id();
    }
  }
  const auto some = nlohmann::json::parse(run("list --json -c allreduce -p 7 -p 100").out);
  for (const auto& entry : some) {
    EXPECT_EQ(entry.at("cost").size(), 2U);
    EXPECT_EQ(entry.at("cost").at(1).at("p"), 100);
  }
}

TEST(Cli, ShowWritesWhatTheLibraryWrites) {
  std::vector<Schedule> ranks;
  std::string text;
  for (Rank rank = 0; rank < 5; ++rank) {
    ranks.push_back(build_schedule(id, {.size = 5, .rank = rank, .in_place = true}));
    text += (rank == 0 ? "" : "\n") + to_text(ranks.back());
  }
  EXPECT_EQ(run(show + "-p 5 --in-place --rank 3").out, to_text(ranks[3]));
  EXPECT_EQ(run(show + "-p 5 --in-place --rank 3 --format json").out, to_json(ranks[3]));
  EXPECT_EQ(run(show + "-p 5 --in-place").out, text);
  EXPECT_TRUE(schedules_from_text(run(show + "-p 5 --in-place").out) == ranks);
  EXPECT_TRUE(schedules_from_json(run(show + "-p 5 --in-place --format json").out) == ranks);
  EXPECT_EQ(run(show + "-p 5 --in-place --format svg").out, to_svg(ranks));
}

TEST(Cli, MisuseIsExplainedAndGivesTwo) {
  const auto expect_misuse = [](const std::string& arguments, std::string_view message) {
    const Outcome outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
    EXPECT_TRUE(run(arguments + " 2>/dev/null").out.empty()) << "errors go to standard error";
  };
  expect_misuse("", "subcommand is required");
  expect_misuse("verify allreduce/circulent", "did you mean circulant");
  expect_misuse("verify allreduce -p 5..2", "1 <= A <= B");
  expect_misuse("verify allreduce -p x", "'x' is not a number of ranks");
  expect_misuse("verify reduce --root x", "'x' is not 'all'");
  expect_misuse("local allreduce/circulant -p 4 --count 5 --type nothing", "nothing");
  expect_misuse("list --nonsense", "--nonsense");
  expect_misuse("list --collective alltoallw", "'alltoallw' is none of allreduce");
  expect_misuse("list -p 4", "--json");
  expect_misuse("show", "id is required");
  expect_misuse("show allreduce/circulant_optimal", "--ranks is required");
  expect_misuse("show allreduce/circulant_optimel -p 4", "did you mean circulant_optimal");
  expect_misuse("show allreduse/circulant_optimal -p 4", "did you mean allreduce/circulant_optimal");
  expect_misuse("show allreduce/circulant_optimal:nonsense=3 -p 4", "no parameter 'nonsense'");
  expect_misuse(show + "-p 0", "--ranks");
  expect_misuse(show + "-p 4 --rank 4", "0 .. 3");
  expect_misuse(show + "-p 4 --root 1", "allreduce has no root");
  expect_misuse(show + "-p 4 --segments 3", "no parameter 'segments'");
  expect_misuse(show + "-p 4 --format xml", "--format");
  expect_misuse(show + "-p 4 --rank 1 --format svg", "draws all ranks");
}

TEST(Cli, UnwritableOutputFails) { EXPECT_EQ(run(show + "-p 4 2>/dev/null >/dev/full").exit_code, 1); }

}  // namespace
}  // namespace circoll
