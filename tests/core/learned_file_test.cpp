// Learned rows in reports and in the file of CIRCOLL_LEARN: written, read, put together.
#include "wrappers/learn/learned.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "interpose/ledger.hpp"
#include "select/text_file.hpp"

namespace circoll::interpose {
namespace {

namespace fs = std::filesystem;

const select::ProfileKey here{.library = "Open MPI 4.1.4", .processor = "a processor"};

LearnedKey key_of(Collective collective, Rank ranks, Count bytes) {
  LearnedKey key;
  key.collective = collective;
  key.ranks = ranks;
  key.ranks_per_node = ranks;
  key.size_class = size_decides(collective) ? size_class(bytes) : 0;
  return key;
}

LearnedRow row_of(const std::string& use, std::int64_t calls = 100) {
  return {
      .calls = calls, .searches = 1, .settled = true, .unlearned = "circulant", .use = use, .gain = 2, .saved_s = 3};
}

/// An example of everything that can be learned.
Learned some() {
  Learned learned{.in_collectives_s = 2, .tried_s = 0.01};
  learned.add(key_of(Collective::bcast, 2, 1000), row_of("native"));
  learned.add(key_of(Collective::bcast, 2, 0), row_of("binomial"));
  learned.add(key_of(Collective::bcast, 5, 1000), row_of("auto"));
  learned.add(key_of(Collective::barrier, 4, 0), row_of("dissemination"));
  for (const bool exact : {false, true}) {
    for (const bool idempotent : {false, true}) {
      LearnedKey key = key_of(Collective::allreduce, 4, 64);
      key.exact = exact;
      key.idempotent = idempotent;
      learned.add(key, row_of(exact ? "recursive_doubling" : "binomial"));
    }
  }
  LearnedKey key = key_of(Collective::reduce, 4, 64);
  key.commutative = false;
  learned.add(key, row_of("binomial"));
  return learned;
}

class LearnedDirectory : public testing::Test {
 protected:
  LearnedDirectory() : path_(fs::temp_directory_path() / ("circoll-learned-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~LearnedDirectory() override { fs::remove_all(path_); }
  LearnedDirectory(const LearnedDirectory&) = delete;
  LearnedDirectory& operator=(const LearnedDirectory&) = delete;

  [[nodiscard]] std::string file() const { return (path_ / "learned.json").string(); }

 private:
  fs::path path_;
};

TEST(Learned, TooFewCallsAreSaidSoUnlessOneKindHasSettled) {
  Learned learned;
  EXPECT_EQ(too_few_calls(learned),
            "too few calls to learn from: 0, at most 0 of a kind; a kind takes hundreds, brief ones thousands");
  LearnedRow row = row_of("native", 40);
  row.settled = false;
  learned.add(key_of(Collective::bcast, 2, 8), row);
  row.calls = 20;
  learned.add(key_of(Collective::bcast, 2, 1000), row);
  EXPECT_EQ(too_few_calls(learned),
            "too few calls to learn from: 60, at most 40 of a kind; a kind takes hundreds, brief ones thousands");
  const std::vector<std::string> lines = report_lines(learned, true);
  ASSERT_GT(lines.size(), 1U);
  EXPECT_NE(report_lines(learned, false).at(1), lines[1]);
  EXPECT_EQ(lines[1], "learned: " + too_few_calls(learned));
  learned.add(key_of(Collective::barrier, 2, 0), row_of("native"));
  EXPECT_EQ(too_few_calls(learned), "");
}

TEST(Learned, ComesBackFromOtherRanks) {
  const Learned before = some();
  Learned twice = learned_from(serialised(before));
  EXPECT_EQ(serialised(twice), serialised(before));
  twice.add(before);
  EXPECT_EQ(twice.in_collectives_s, 4);
  EXPECT_EQ(twice.rows.size(), before.rows.size());
  const LearnedRow& row = twice.rows.at(key_of(Collective::bcast, 2, 1000));
  EXPECT_EQ(row.calls, 200);
  EXPECT_EQ(row.communicators, 2);
  EXPECT_EQ(row.saved_s, 6);
}

TEST(Learned, TheCommunicatorWithMoreCallsSaysWhatServes) {
  const LearnedKey key = key_of(Collective::bcast, 2, 8);
  for (const bool first : {false, true}) {
    Learned learned;
    learned.add(key, row_of("native", first ? 10 : 5));
    learned.add(key, row_of("binomial", first ? 5 : 10));
    EXPECT_EQ(learned.rows.at(key).use, first ? "native" : "binomial");
    EXPECT_EQ(learned.rows.at(key).calls, 15);
  }
}

TEST(Learned, TheReportSaysWhatServesAndWhatItHasSaved) {
  Learned learned;
  LearnedRow row = row_of("native", 1234);
  row.tried = {{.name = "native", .ratio = 0.5, .calls = 17}, {.name = "linear", .ratio = 3, .calls = 5}};
  learned.add(key_of(Collective::bcast, 2, 1500), row);
  learned.in_collectives_s = 1;
  learned.tried_s = 0.02;
  std::string text;
  for (const std::string& line : report_lines(learned, true)) {
    EXPECT_LE(line.size(), 111U) << line;  // with "circoll: " 120
    text += line + "\n";
  }
  for (const char* const part : {"20ms of it (2.0 %), and saved 3s; 1 of 1 kinds changed", "bcast", "1Ki..2047", "1234",
                                 "native", "2.00", "native 0.50 (17 calls), linear 3.00 (5 calls)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LearnedFile, WhatIsKeptComesBackAndIsARulesFile) {
  const std::string text = learned_text(some(), here);
  const LearnedFile back = read_learned(text, "file");
  EXPECT_EQ(back.machine, here);
  ASSERT_EQ(back.learned.rows.size(), some().rows.size());
  const auto policy = make_rules_policy(text, "file");
  for (const auto& [key, row] : some().rows) {
    ASSERT_TRUE(back.learned.rows.contains(key));
    EXPECT_EQ(back.learned.rows.at(key).use, row.use);
    CallFacts facts{.collective = key.collective, .p = key.ranks, .bytes = least_bytes(key.size_class)};
    facts.op = {.commutative = key.commutative, .idempotent = key.idempotent};
    facts.exact_op = key.exact;
    facts.cores = key.ranks_per_node;
    facts.nodes = key.nodes;
    const Decision decision = policy->decide(facts);
    if (row.use == "native") {
      EXPECT_FALSE(decision.selection.has_value());
    } else if (row.use != "auto") {
      ASSERT_TRUE(decision.selection.has_value());
      EXPECT_EQ(decision.selection->algorithm->name, row.use);
    }
  }
}

TEST(LearnedFile, WhatHasNotSettledAndWhatNoRuleCanSayIsLeftOut) {
  Learned learned;
  LearnedRow open = row_of("native");
  open.settled = false;
  learned.add(key_of(Collective::bcast, 2, 8), open);
  LearnedKey user = key_of(Collective::allreduce, 3, 8);
  user.commutative = false;
  learned.add(user, row_of("ring"));  // ring needs an operator that commutes
  learned.add(key_of(Collective::gather, 2, 8), row_of("linear"));
  const LearnedFile back = read_learned(learned_text(learned, here), "file");
  ASSERT_EQ(back.learned.rows.size(), 1U);
  EXPECT_EQ(back.learned.rows.begin()->first.collective, Collective::gather);
}

TEST(LearnedFile, OfAnotherMachineIsOfNoUse) {
  EXPECT_EQ(why_not_here(here, here), "");
  EXPECT_EQ(why_not_here({.library = "MPICH 4.0.2", .processor = "a processor"}, here),
            "it was learned with MPICH 4.0.2, not Open MPI 4.1.4");
  EXPECT_EQ(why_not_here({.library = "Open MPI 4.1.4", .processor = "another"}, here),
            "it was learned on 'another', not 'a processor'");
}

TEST(LearnedFile, ErrorsNameTheLine) {
  const auto sentence = [](const std::string& text) {
    try {
      (void)read_learned(text, "file");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(sentence("{}").substr(0, 7), "file:1:");
  EXPECT_NE(sentence(R"({"circoll_rules": 1})").find("there is no \"learned\""), std::string::npos);
  std::string text = learned_text(some(), here);
  text.replace(text.find("\"native\""), 8, "\"nativ\"");
  EXPECT_EQ(sentence(text).substr(0, 5), "file:");
  EXPECT_NE(sentence(R"({"circoll_rules": 1, "learned": {"version": 1, "library": "a", "processor": "b"},
    "bcast": [{"p": [2, 4], "use": "native"}, {"otherwise": "auto"}]})")
                .find("file:2: a rule that was learned is about one p"),
            std::string::npos);
}

/// Every damaged file is an error with a line, or still a file.
TEST(LearnedFile, SurvivesDamage) {
  const std::string whole = learned_text(some(), here);
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (std::size_t change = 0; change <= below(3); ++change) {
      const std::size_t at = below(text.size());
      switch (below(3)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, below(40));
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(40)));
      }
      if (text.empty()) break;
    }
    try {
      (void)read_learned(text, "file");
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 5), "file:");
    }
  }
}

TEST_F(LearnedDirectory, RunsAddToOneAnother) {
  Learned first, second;
  first.add(key_of(Collective::bcast, 2, 8), row_of("native"));
  first.add(key_of(Collective::gather, 2, 8), row_of("linear"));
  second.add(key_of(Collective::bcast, 2, 8), row_of("binomial"));
  second.add(key_of(Collective::bcast, 4, 8), row_of("native"));
  store_learned(file(), first, here);
  store_learned(file(), second, here);
  const Learned both = read_learned(select::read_text_file(file()), file()).learned;
  ASSERT_EQ(both.rows.size(), 3U);
  EXPECT_EQ(both.rows.at(key_of(Collective::bcast, 2, 8)).use, "binomial");
  EXPECT_EQ(both.rows.at(key_of(Collective::gather, 2, 8)).use, "linear");
}

TEST_F(LearnedDirectory, WritersAtTheSameTimeLoseNothing) {
  std::vector<std::thread> writers;
  for (Rank ranks = 2; ranks < 10; ++ranks) {
    writers.emplace_back([&, ranks] {
      for (const Count bytes : {8, 64, 512}) {
        Learned one;
        one.add(key_of(Collective::bcast, ranks, bytes), row_of("native"));
        store_learned(file(), one, here);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_learned(select::read_text_file(file()), file()).learned.rows.size(), 24U);
}

TEST_F(LearnedDirectory, AFileThatIsNoneOrOfAnotherMachineStaysAsItIs) {
  for (const std::string& text :
       {std::string("not even JSON"), learned_text(some(), {.library = "x", .processor = "y"})}) {
    std::ofstream(file()) << text;
    EXPECT_THROW(store_learned(file(), some(), here), Error);
    EXPECT_EQ(select::read_text_file(file()), text);
  }
}

TEST(LearnedFile, SaysWhereItCannotBeWritten) {
  EXPECT_THROW(store_learned("/proc/learned.json", some(), here), Error);
}

}  // namespace
}  // namespace circoll::interpose
