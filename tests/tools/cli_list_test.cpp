// circoll list, and what is said about words that are not known.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "facts/text.hpp"
#include "support/command.hpp"

namespace circoll {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string first_word(const std::string& line) { return line.substr(0, line.find(' ')); }

TEST(CliList, HasALineForEachAlgorithm) {
  const Outcome outcome = run("list");
  EXPECT_EQ(outcome.exit_code, 0);
  const std::vector<std::string> lines = lines_of(outcome.out);
  std::size_t at = 0;
  for (const Collective collective : all_collectives) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      ASSERT_LT(at, lines.size());
      EXPECT_EQ(first_word(lines[at]), algorithm->id(collective));
      EXPECT_TRUE(lines[at].ends_with(algorithm->summary)) << lines[at];
      ++at;
    }
  }
  EXPECT_EQ(at, lines.size());
}

TEST(CliList, OfOneCollectiveSaysWhatDecides) {
  const std::vector<std::string> lines = lines_of(run("list allgatherv").out);
  ASSERT_EQ(lines.size(), algorithms_of(Collective::allgatherv).size() + 1);
  EXPECT_EQ(first_word(lines[0]), "algorithm");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Algorithm& algorithm = *algorithms_of(Collective::allgatherv)[i - 1];
    EXPECT_EQ(first_word(lines[i]), algorithm.id(Collective::allgatherv));
    EXPECT_TRUE(lines[i].ends_with(algorithm.when)) << lines[i];
    EXPECT_TRUE(contains(lines[i], algorithm.formula.rounds.substr(0, 12))) << lines[i];
  }
  EXPECT_EQ(run("list --collective allgatherv").out, run("list allgatherv").out);
}

TEST(CliList, TellsAllAboutOne) {
  const Outcome one = run("list allreduce/ring");
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_TRUE(one.out.starts_with("allreduce/ring\n  ")) << one.out;
  EXPECT_TRUE(contains(one.out, "\n  source      Patarasuk, Yuan 2009\n")) << one.out;
  EXPECT_TRUE(contains(run("list allreduce --details").out, "\n" + one.out));
  EXPECT_TRUE(contains(run("list --details").out, "\n" + one.out));
}

TEST(CliList, NamesAreThoseThatCommandsTake) {
  const std::vector<std::string> types = lines_of(run("list --types").out);
  ASSERT_EQ(types.size(), type_count + 1);
  for (std::size_t i = 1; i < types.size(); ++i) {
    const Type type = static_cast<Type>(i - 1);
    EXPECT_EQ(first_word(types[i]), to_string(type));
    for (const std::string& name : other_names(type)) {
      EXPECT_TRUE(contains(types[i], name)) << types[i];
      EXPECT_EQ(parse_type(name), type) << name;
      EXPECT_EQ(parse_type("MPI_" + name), type) << name;
    }
  }
  EXPECT_TRUE(contains(types[static_cast<std::size_t>(Type::float32) + 1], "float, real, real4"));
  const std::vector<std::string> operators = lines_of(run("list --operators").out);
  ASSERT_EQ(operators.size(), op_count + 1);
  EXPECT_TRUE(operators[1].starts_with("sum       yes          no          integers, floating point, complex"));
  for (std::size_t i = 1; i < operators.size(); ++i)
    EXPECT_EQ(parse_op(first_word(operators[i])), static_cast<Op>(i - 1));
}

TEST(CliList, PoliciesAreTaken) {
  const std::vector<std::string> policies = lines_of(run("list --policies").out);
  EXPECT_GE(policies.size(), 7U);
  for (const std::string& line : policies) {
    const std::string name = first_word(line);
    if (name == "file:PATH" || name == "learn") continue;  // a file is needed; the drop-in alone learns
    EXPECT_EQ(run("explain allreduce -p 4 --policy " + name).exit_code, 0) << name;
  }
}

TEST(CliWords, ThoseNotKnownAreSuggested) {
  const auto expect_misuse = [](const std::string& arguments, std::string_view message) {
    const Outcome outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  };
  expect_misuse("lst", "'lst' is no command (did you mean list?); known are bench, calibrate, ");
  expect_misuse("verfiy --all", "did you mean verify?");
  expect_misuse("list --colective bcast", "'--colective' is no option of circoll list (did you mean --collective");
  expect_misuse("list allreduce bcast", "'bcast' is one argument too many for circoll list");
  expect_misuse("list allredce", "'allredce' is no collective (did you mean allreduce?)");
  expect_misuse("list allreduce/rng", "did you mean ring");
  expect_misuse("list allreduce --collective bcast", "either --collective, or a word");
  expect_misuse("show allreduce -p 4", "algorithms of allreduce are ");
}

TEST(CliWords, FilesAreLookedAt) {
  const auto expect_misuse = [](const std::string& arguments, std::string_view message) {
    const Outcome outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
  };
  const TemporaryFile rules("{\"circoll_rules\": 1}", "rules.json");
  expect_misuse("explain allreduce -p 4 --policy " + rules.path, "did you mean file:" + rules.path);
  const TemporaryFile text("root:x:0:0\n", "text");
  expect_misuse("merge " + text.path, text.path + ":1: this is no JSON: parse error at line 1");
  expect_misuse("show allreduce/ring -p 5000 --format svg", "a picture has at most 512 ranks");
  EXPECT_EQ(run("show allreduce/ring -p 3 --format SVG").out, run("show allreduce/ring -p 3 --format svg").out);
}

TEST(CliWords, DryRunReadsTheCommandLineOnly) {
  EXPECT_EQ(run("--dry-run list").exit_code, 0);
  EXPECT_EQ(run("--dry-run list").out, "");
  EXPECT_EQ(run("--dry-run run -- no-such-program").exit_code, 0);
  EXPECT_EQ(run("--dry-run bench --np 4 --bytes 8..1Mi").exit_code, 0);
  EXPECT_EQ(run("--dry-run bench --np 4 --bytes 8..x 2>&1").exit_code, 2);
  EXPECT_EQ(run("--dry-run lst 2>&1").exit_code, 2);
}

TEST(CliWords, HelpSaysWhatValuesAre) {
  const std::string help = run("explain --help").out;
  EXPECT_TRUE(contains(help, "--type TYPE=")) << help;
  EXPECT_TRUE(contains(help, "--bytes BYTES=")) << help;
  EXPECT_TRUE(contains(help, "--mpi auto|openmpi|mpich=auto")) << help;
  EXPECT_FALSE(contains(help, "TEXT:")) << help;
}

}  // namespace
}  // namespace circoll
