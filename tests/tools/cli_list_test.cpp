// circoll list, and its messages about unknown words.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
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

/// A line of a table ends with a text, or with dots after whole words of it.
void expect_words(const std::string& line, std::string_view text) {
  EXPECT_LE(line.size(), 100U) << line;
  if (line.ends_with(text)) return;
  ASSERT_TRUE(line.ends_with(" ...")) << line;
  EXPECT_GT(line.size(), 74U) << "more words fit: " << line;
  const std::string shown = line.substr(0, line.size() - 4);
  std::size_t most = 0;  // of the text, at the end of what is shown
  for (std::size_t n = 1; n < text.size(); ++n) {
    if (shown.ends_with(text.substr(0, n))) most = n;
  }
  ASSERT_GT(most, 0U) << line;
  EXPECT_TRUE(text[most] == ' ' || text[most] == ',' || text[most] == ';' || text[most] == ':') << line;
}

TEST(CliList, HasALineForEachAlgorithm) {
  const CommandResult outcome = run("list");
  EXPECT_EQ(outcome.exit_code, 0);
  const std::vector<std::string> lines = lines_of(outcome.out);
  std::size_t at = 0;
  for (const Collective collective : all_collectives) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      ASSERT_LT(at, lines.size());
      EXPECT_EQ(first_word(lines[at]), algorithm->id(collective));
      expect_words(lines[at], algorithm->summary);
      ++at;
    }
  }
  EXPECT_EQ(at, lines.size());
}

TEST(CliList, OfOneCollectiveSaysWhatDecides) {
  for (const Collective collective : all_collectives) {
    const std::string name(to_string(collective));
    const std::vector<std::string> lines = lines_of(run("list " + name).out);
    const auto& algorithms = algorithms_of(collective);
    ASSERT_EQ(lines.size(), algorithms.size() + 3);
    EXPECT_EQ(first_word(lines[0]), name);
    EXPECT_EQ(lines.back(), "all about one: circoll list " + name + "/NAME");
    const std::size_t needs = lines[0].find("needs"), when = lines[0].find("when");
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      const std::string& line = lines[i + 1];
      EXPECT_EQ(first_word(line), algorithms[i]->name);
      EXPECT_EQ(contains(line.substr(needs, when - needs), "commutative"), algorithms[i]->needs.commutative) << line;
      expect_words(line, algorithms[i]->when);
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
  EXPECT_EQ(run("list --collective allgatherv").out, run("list allgatherv").out);
}

TEST(CliList, TellsAllAboutOne) {
  const CommandResult one = run("list allreduce/ring");
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
    const CommandResult outcome = run(arguments + " 2>&1");
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_TRUE(contains(outcome.out, message)) << arguments << "\n" << outcome.out;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  };
  expect_misuse("lst", "'lst' is no command (did you mean list?); known are bench, bits-compare, calibrate, ");
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
    const CommandResult outcome = run(arguments + " 2>&1");
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
