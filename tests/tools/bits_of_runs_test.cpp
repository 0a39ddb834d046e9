// Records of the bits of runs: reading them, and the first differences.
#include "measured/bits_of_runs.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "circoll/error.hpp"
#include "support/profiles.hpp"

namespace circoll {
namespace {

/// The record of a rank of two, with an allreduce and a bcast; `sum` is the result of the former.
std::string record(int rank, const std::string& sum = "aa", const std::string& given = "11",
                   const std::string& algorithm = "ring") {
  return "circoll_bits 1 rank " + std::to_string(rank) +
         " of 2\n"
         "comm 0 77.0 2 0,1\n"
         "site 0 main+0x1f (./program+0x1139)\n"
         "call 0 1 0 allreduce float64 sum 8 -1 " +
         given + " " + sum + " " + algorithm +
         "\n"
         "site 1 main+0x2f (./program+0x1149)\n"
         "call 0 2 1 bcast - - 8 0 " +
         sum +
         " 5 binomial\n"
         "call 0 3 0 allreduce float64 sum 8 -1 33 44 ring\n"
         "end 3 unseen 1\n";
}

class Records : public testing::Test {
 protected:
  /// The directory of a run of these records.
  std::string write(const std::string& name, const std::vector<std::string>& records) const {
    std::string directory = work_.path() + "/" + name;
    std::filesystem::create_directories(directory);
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
      std::ofstream(directory + "/rank-" + std::to_string(rank) + ".bits") << records[rank];
    }
    return directory;
  }
  RunBits run(const std::string& name, const std::vector<std::string>& records) const {
    return read_bits_of_run(write(name, records), name);
  }
  /// The sentence about a damaged record of rank 1.
  std::string complaint(const std::string& damaged) const {
    try {
      (void)run("damaged", {record(0), damaged});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  TemporaryDirectory work_;
};

TEST_F(Records, ThatAreEqualHaveNoDifference) {
  const RunBits one = run("one", {record(0), record(1)});
  const BitsComparison all = compare_bits({one, run("two", {record(0), record(1)})});
  EXPECT_FALSE(all.changes_bits());
  EXPECT_FALSE(all.differs_by_itself());
  EXPECT_EQ(all.calls, 3);
  EXPECT_EQ(all.unseen, 1);
  ASSERT_EQ(all.kinds.size(), 2U);
  const std::string text = bits_text(all);
  EXPECT_TRUE(text.starts_with("Verdict: no collective changes bits: 3 calls on 2 ranks, 2 runs.\n")) << text;
  EXPECT_NE(text.find("Up to 1 call of a rank are not recorded"), std::string::npos) << text;
  EXPECT_EQ(text.find("CIRCOLL_SUM"), std::string::npos) << text;
}

TEST_F(Records, SayWhichCallsCouldNotBeCompared) {
  const auto without_results = [](int rank) {
    std::string text = record(rank);
    for (const std::string result : {" 44 ring", " 5 binomial"}) {
      const std::size_t at = text.find(result);
      text.replace(at, result.find(' ', 1), " -");
    }
    return text;
  };
  const RunBits one = run("auto", {record(0), record(1)});
  const BitsComparison some = compare_bits({one, run("native", {without_results(0), without_results(1)})});
  EXPECT_FALSE(some.changes_bits());
  EXPECT_EQ(some.runs.front().unknown, 2);
  const std::string text = bits_text(some);
  EXPECT_TRUE(
      text.starts_with("Verdict: no collective changes bits: 1 call on 2 ranks, 2 runs; 2 calls could not be "
                       "compared.\n"))
      << text;
  EXPECT_NE(text.find("2 calls could not be compared: they are nonblocking"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(bits_json(some)).at("runs").at(0).at("not_compared"), 2);
}

TEST_F(Records, NameACommunicatorOfManyRanks) {
  // Sixteen of 32 ranks, of which the record names eight.
  std::vector<std::string> first, other;
  for (int rank = 0; rank < 32; ++rank) {
    const bool member = rank % 2 == 0;
    const std::string head = "circoll_bits 1 rank " + std::to_string(rank) + " of 32\n";
    const auto text = [&](const std::string& sum) {
      if (!member) return head + "end 0 unseen 0\n";
      return head + "comm 0 7.0 16 0,2,4,6,8,10,12,14,...\nsite 0 main\ncall 0 1 0 allreduce float64 sum 8 -1 1 " +
             sum + " ring\nend 1 unseen 0\n";
    };
    first.push_back(text("2"));
    other.push_back(text("3"));
  }
  const std::string text = bits_text(compare_bits({run("one", first), run("two", other)}));
  EXPECT_NE(text.find("from call 1 on the first communicator of 16 ranks, 0,2,4,6,8,10,12,14,... on"),
            std::string::npos)
      << text;
}

TEST_F(Records, NameTheFirstCallThatChangesBits) {
  const RunBits one = run("auto", {record(0), record(1)});
  // One rank suffices. The bcast then has another contribution, which is not its own doing.
  const RunBits two = run("linear", {record(0, "ab", "11", "linear"), record(1, "ab", "11", "linear")});
  const BitsComparison all = compare_bits({one, one, two});
  EXPECT_TRUE(all.changes_bits());
  EXPECT_FALSE(all.differs_by_itself());
  const BitsOfKind& kind = all.kinds.front();
  EXPECT_EQ(kind.name.collective, "allreduce");
  EXPECT_EQ(kind.calls, 2);
  EXPECT_EQ(kind.changed, 1);
  EXPECT_EQ(kind.first.number, 1);
  EXPECT_EQ(kind.served_by, (std::set<std::string>{"ring"}));
  EXPECT_EQ(kind.changed_by, (std::set<std::string>{"linear (linear)"}));
  ASSERT_EQ(all.runs.size(), 2U);
  EXPECT_EQ(all.runs[0].changed, 0);
  EXPECT_EQ(all.runs[1].changed, 1);
  EXPECT_EQ(all.runs[1].others, 1);
  EXPECT_EQ(all.runs[1].first_other.number, 2);
  EXPECT_EQ(all.kinds.back().changed, 0);
  const std::string text = bits_text(all);
  EXPECT_TRUE(
      text.starts_with("Verdict: MPI_Allreduce (sum of float64) changes bits, from call 1 on the first "
                       "communicator of ranks 0 to 1 on.\n"))
      << text;
  EXPECT_NE(
      text.find(
          "in 1 call the contributions differ already, from call 2 on the first communicator of ranks 0 to 1 on (at "
          "main+0x2f (./program+0x1149))"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("called at main+0x1f (./program+0x1139)"), std::string::npos) << text;
  EXPECT_NE(text.find("Next: CIRCOLL_SUM=exact"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(bits_json(all));
  EXPECT_EQ(json.at("changes_bits"), true);
  EXPECT_EQ(json.at("kinds").at(0).at("first").at("call"), 1);
  EXPECT_EQ(json.at("runs").at(1).at("contributions_differ"), 1);
  EXPECT_TRUE(json.at("runs").at(0).at("first_other").is_null());
}

TEST_F(Records, OfARankThatAloneGetsOtherBits) {
  const RunBits one = run("one", {record(0), record(1)});
  EXPECT_TRUE(compare_bits({one, run("two", {record(0), record(1, "ab")})}).changes_bits());
}

TEST_F(Records, WhoseContributionsDifferBlameTheProgram) {
  const RunBits one = run("one", {record(0), record(1)});
  const BitsComparison all = compare_bits({one, run("two", {record(0), record(1, "ab", "12")})});
  EXPECT_FALSE(all.changes_bits());
  EXPECT_TRUE(all.differs_by_itself());
  EXPECT_TRUE(
      bits_text(all).starts_with("Verdict: no recorded collective changes bits, but the program's own numbers"));
}

TEST_F(Records, OfOtherCallsPart) {
  std::string other = record(0);
  other.replace(other.find("bcast - - 8 0"), 13, "bcast - - 9 0");
  const RunBits one = run("one", {record(0), record(1)});
  const BitsComparison all = compare_bits({one, run("two", {other, record(1)})});
  EXPECT_EQ(all.runs[0].parted.number, 2);
  EXPECT_TRUE(all.differs_by_itself());
  EXPECT_NE(
      bits_text(all).find("from call 2 on the first communicator of ranks 0 to 1 on the program makes other calls"),
      std::string::npos);
}

TEST_F(Records, WithoutAResultAreComparedByTheirContributions) {
  std::string unknown = record(1);
  unknown.replace(unknown.find("33 44"), 5, "33 -");
  const RunBits one = run("one", {record(0), record(1)});
  EXPECT_FALSE(compare_bits({one, run("two", {record(0), unknown})}).changes_bits());
  unknown.replace(unknown.find("33 -"), 4, "34 -");
  EXPECT_EQ(compare_bits({one, run("three", {record(0), unknown})}).runs[0].others, 1);
}

TEST_F(Records, HaveCallsInTheOrderOfTheirEnds) {
  std::string late = record(0);
  const std::string second = late.substr(late.find("call 0 2"), late.find("call 0 3") - late.find("call 0 2"));
  late.erase(late.find(second), second.size()).insert(late.find("end"), second);
  const RunBits one = run("one", {record(0), record(1)});
  EXPECT_FALSE(compare_bits({one, run("two", {late, record(1)})}).changes_bits());
  EXPECT_TRUE(compare_bits({one, run("three", {record(0), record(1, "ab")})}).changes_bits());
}

TEST_F(Records, ThatAreDamagedAreRefusedInOneSentence) {
  const std::string good = record(1);
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    text.replace(text.find(what), what.size(), instead);
    return complaint(text);
  };
  const std::string file = work_.path() + "/damaged/rank-1.bits";
  EXPECT_EQ(complaint(good.substr(0, good.find("end"))),
            file + " has no end: the program has not come to MPI_Finalize, or the record is cut");
  EXPECT_EQ(with("end 3", "end 4"), file + ":8: lines of calls are missing");
  EXPECT_EQ(with("rank 1", "rank 0"), file + ":1: this is the record of another rank");
  EXPECT_EQ(with("of 2", "of 3"), file + ":1: the records are of runs with different numbers of ranks");
  EXPECT_EQ(with("circoll_bits 1", "circoll_bits 2"), file + ":1: '2' is not '1'");
  EXPECT_EQ(with("call 0 2 1", "call 0 3 1"), file + ":7: the call is there already");
  EXPECT_EQ(with("call 0 2 1", "call 0 4 1"), file + ":8: lines of calls are missing");
  EXPECT_EQ(with("call 0 2 1", "call 0 999999999999 1"), file + ":6: the number of the call is too large");
  EXPECT_EQ(with("call 0 2 1", "call 1 2 1"), file + ":6: the call's communicator has no line");
  EXPECT_EQ(with("call 0 2 1", "call 0 2 9"), file + ":6: the call's place has no line");
  EXPECT_EQ(with("bcast", "bcats"), file + ":6: 'bcats' is no collective");
  EXPECT_EQ(with("33 44 ring", "33"), file + ":7: the line is cut short");
  EXPECT_EQ(with("33 44", "33 xy"), file + ":7: 'xy' is no number that may stand here");
  EXPECT_EQ(with("binomial", "binomial more"), file + ":6: 'more' stands behind the end of the line");
  EXPECT_EQ(with("site 1", "side 1"), file + ":5: 'side' begins no line of a record");
  EXPECT_EQ(with("site 1", "site 2"), file + ":5: the places are not in order");
  EXPECT_EQ(with("comm 0", "comm 1"), file + ":2: the communicators are not in order");
  EXPECT_EQ(with("77.0 2", "77.0 3"), file + ":2: the communicator has more ranks than the run");
  EXPECT_EQ(complaint(good + "more\n"), file + ":9: the record goes on behind its end");
}

TEST_F(Records, OfAnyBytesAreReadOrRefused) {
  const std::string good = record(1);
  const RunBits one = run("one", {record(0), record(1)});
  int refused = 0;
  const auto read = [&](const std::string& text) {
    try {
      (void)bits_text(compare_bits({one, run("damaged", {record(0), text})}));
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t at = 0; at < good.size(); at += 2) {
    read(good.substr(0, at));
    for (const char instead : {' ', '9'}) {
      std::string text = good;
      text[at] = instead;
      read(text);
    }
  }
  EXPECT_GT(refused, 200);
}

TEST_F(Records, ThatAreMissingAreNamed) {
  const std::string directory = write("half", {record(0)});
  try {
    (void)read_bits_of_run(directory, "half");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), directory + "/rank-1.bits is missing: rank 1 of 2 has written no record");
  }
  EXPECT_THROW((void)read_bits_of_run(work_.path() + "/nowhere", "nowhere"), Error);
}

TEST_F(Records, OfOneRunOrOfOtherRanksAreNotCompared) {
  const RunBits one = run("one", {record(0), record(1)});
  std::string alone = record(0);
  alone.replace(alone.find("of 2"), 4, "of 1");
  alone.replace(alone.find("77.0 2 0,1"), 10, "78.0 1 0");
  EXPECT_THROW((void)compare_bits({one}), Error);
  EXPECT_THROW((void)compare_bits({one, run("alone", {alone})}), Error);
}

}  // namespace
}  // namespace circoll
