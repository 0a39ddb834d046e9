// Statements of ranks about a call that a failure has hit, and the verdicts that follow from them.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "wrappers/survive/watch/peer_monitor.hpp"

namespace circoll::watch {
namespace {

RankSet set_of(std::initializer_list<int> ranks) {
  RankSet set;
  for (const int rank : ranks) set.add(rank);
  return set;
}

bool same(const Statement& a, const Statement& b) {
  return a.communicator == b.communicator && a.rank == b.rank && a.call == b.call && a.stage == b.stage &&
         a.spoiled == b.spoiled && a.overwritten == b.overwritten && a.in_place == b.in_place && a.failed == b.failed &&
         a.tags == b.tags && a.kept == b.kept && a.result_of == b.result_of && a.result == b.result &&
         a.ended == b.ended && a.torn == b.torn;
}

Statement random_statement(std::mt19937_64& random) {
  Statement s{.communicator = random(),
              .rank = static_cast<int>(random() % RankSet::most),
              .call = random(),
              .stage = static_cast<CallPart>(random() % 3),
              .spoiled = random() % 2 == 0,
              .overwritten = random() % 2 == 0,
              .in_place = random() % 2 == 0,
              .kept = random() % 2 == 0,
              .tags = {static_cast<std::int32_t>(random() % 70000), -1}};
  for (int i = 0; i < 5; ++i) s.failed.add(static_cast<int>(random() % RankSet::most));
  const std::size_t steps = random() % 40;
  for (std::size_t i = 0; i < steps; ++i) {
    s.ended.push_back(random() % 2 == 0);
    s.torn.push_back(random() % 2 == 0);
  }
  s.result_of = random();
  s.result.resize(random() % 50);
  for (std::byte& byte : s.result) byte = static_cast<std::byte>(random());
  return s;
}

TEST(RankSet, HasMembersAndOthers) {
  const RankSet set = set_of({0, 63, 64, 255});
  EXPECT_EQ(set.count(), 4);
  EXPECT_EQ(set.members(256), (std::vector{0, 63, 64, 255}));
  EXPECT_EQ(set.members(64), (std::vector{0, 63}));
  EXPECT_EQ(set_of({1}).others(4), (std::vector{0, 2, 3}));
  EXPECT_TRUE(RankSet{}.empty());
  EXPECT_FALSE(set.empty());
}

TEST(Statement, ArrivesAsItWasSent) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const Statement sent = random_statement(random);
    const auto received = statement_from(to_bytes(sent));
    ASSERT_TRUE(received);
    EXPECT_TRUE(same(sent, *received));
  }
}

TEST(Statement, IsRefusedIfItIsNone) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<std::byte> bytes = to_bytes(random_statement(random));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(statement_from(std::span(bytes).first(size))) << size << " of " << bytes.size();
    }
    bytes.push_back(std::byte{});
    EXPECT_FALSE(statement_from(bytes));
  }
  // The reader does not read beyond the end of random bytes.
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    if (const auto read = statement_from(bytes)) {
      EXPECT_EQ(to_bytes(*read).size(), bytes.size());
    }
  }
}

/// Ranks 0 .. size-1 in a call, each with its stage and its conclusion.
class Verdicts : public testing::Test {
 protected:
  static constexpr int size = 4;
  Verdicts() : others_(size) {
    for (int r = 0; r < size; ++r) state(r, {.rank = r, .call = 7, .stage = CallPart::data, .failed = set_of({3})});
  }
  void state(int rank, const Statement& statement) { others_[static_cast<std::size_t>(rank)] = statement; }
  Statement& at(int rank) { return *others_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] NextStep of(int rank, const RankSet& gone = {}) { return judge(at(rank), others_, gone); }
  std::vector<std::optional<Statement>> others_;
};

TEST_F(Verdicts, AreTheSameOfAllOnceAllHaveStated) {
  for (int stages = 0; stages < 8; ++stages) {
    for (int r = 0; r < 3; ++r) at(r).stage = (stages >> r) % 2 != 0 ? CallPart::committing : CallPart::data;
    for (int r = 0; r < 3; ++r) EXPECT_EQ(of(r), stages == 7 ? NextStep::committed : NextStep::decide) << stages;
  }
}

TEST_F(Verdicts, WaitForAllWhoLive) {
  others_[1].reset();
  EXPECT_EQ(of(0), NextStep::wait);
  EXPECT_EQ(of(2), NextStep::wait);
}

TEST_F(Verdicts, WaitForRanksThatComeLate) {
  at(1) = {.rank = 1, .call = 7, .stage = CallPart::before, .failed = set_of({3})};
  EXPECT_EQ(of(0), NextStep::wait);
  at(1).call = 6;
  at(1).stage = CallPart::committing;
  EXPECT_EQ(of(0), NextStep::wait);
}

TEST_F(Verdicts, WaitUntilAllKnowTheSameFailures) {
  at(1).failed = set_of({2, 3});
  EXPECT_EQ(of(0), NextStep::wait);
  EXPECT_EQ(of(1), NextStep::wait);
  at(0).failed = set_of({2, 3});
  EXPECT_EQ(of(0), NextStep::decide);
  EXPECT_EQ(of(1), NextStep::decide);
}

TEST_F(Verdicts, TakeACallForMadeThatSomebodyHasLeft) {
  at(1).call = 8;
  at(0).stage = CallPart::committing;
  EXPECT_EQ(of(0), NextStep::committed);
  // The same holds if a failed rank's last statement says so, or if a rank has left for good.
  at(1).call = 7;
  at(3).call = 8;
  EXPECT_EQ(of(0), NextStep::committed);
  at(3).call = 7;
  EXPECT_EQ(of(0), NextStep::decide);
  EXPECT_EQ(of(0, set_of({1})), NextStep::committed);
}

// The result may be lost with the dead rank.
TEST_F(Verdicts, TakeNoKeptCallForMadeThatADeadRankHasLeft) {
  for (int r = 0; r < 3; ++r) at(r).kept = true;
  at(3).call = 8;
  EXPECT_EQ(of(0), NextStep::decide);
  at(1).call = 8;
  EXPECT_EQ(of(0), NextStep::committed) << "a living one has it";
  at(1).call = 7;
  at(0).stage = CallPart::committing;
  EXPECT_EQ(of(0), NextStep::committed) << "after a closing barrier it needs none";
}

}  // namespace
}  // namespace circoll::watch
