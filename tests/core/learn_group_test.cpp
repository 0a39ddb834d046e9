// The search for the fastest candidate, on calls whose times are made up. learn_price_test has its price.
#include <gtest/gtest.h>

#include <vector>

#include "learning_program.hpp"

using circoll::learn::Account;
using circoll::learn::Agreement;
using circoll::learn::Group;
using circoll::learn::LearningProgram;
using circoll::learn::Limits;
using circoll::learn::MadeUpKind;
using circoll::learn::MadeUpMachine;

namespace {

constexpr MadeUpMachine quiet{.sigma = 0.01, .agreement_s = 2e-6, .preparation_s = 0};

/// Candidates of which the model predicts the same.
MadeUpKind alike(const std::vector<double>& times_s, std::optional<std::size_t> known = {}) {
  MadeUpKind kind{.times_s = times_s, .candidates = {}, .known = known};
  kind.candidates.assign(times_s.size(), {.predicted_s = 1e-3});
  return kind;
}

/// The second candidate is the library's own.
MadeUpKind with_native(const std::vector<double>& times_s) {
  MadeUpKind kind = alike(times_s);
  kind.candidates[1] = {.native = true};
  return kind;
}

LearningProgram program_of(const MadeUpKind& kind, Limits limits = {}) { return {{kind}, quiet, 42, limits}; }

TEST(LearnGroup, ProgramsWithFewCallsNoticeNothingWhereTheLibraryIsNoCandidate) {
  LearningProgram program = program_of(alike({1e-3, 1e-5}));
  program.calls(7);
  EXPECT_EQ(program.agreements(), 0);
  EXPECT_EQ(program.served(0), 7);
}

TEST(LearnGroup, OneCandidateIsNeverTimed) {
  LearningProgram program = program_of(alike({1e-3}));
  program.calls(10000);
  EXPECT_EQ(program.agreements(), 0);
  EXPECT_FALSE(program.group().settled());
}

TEST(LearnGroup, TheFastestStays) {
  for (const bool native : {false, true}) {
    for (std::size_t fastest = 0; fastest < 4; ++fastest) {
      std::vector<double> times{2e-3, 2.4e-3, 1.9e-3, 5e-3};
      times[fastest] = 1e-3;
      LearningProgram program = program_of(native ? with_native(times) : alike(times));
      program.calls(5000);
      EXPECT_TRUE(program.group().settled());
      EXPECT_EQ(program.group().best(), fastest);
      EXPECT_EQ(program.made().back().served, fastest);
    }
  }
}

TEST(LearnGroup, TheLibraryServesAfterTenCallsIfItIsFaster) {
  for (const double ratio : {1.12, 1.5, 4.0}) {
    for (const double native_s : {3e-4, 2e-2}) {
      LearningProgram program = program_of(with_native({ratio * native_s, native_s, native_s * 2}));
      program.calls(30);
      for (std::size_t call = 10; call < 30; ++call) EXPECT_EQ(program.made()[call].served, 1U) << ratio << ' ' << call;
    }
  }
}

TEST(LearnGroup, AboutAsFastIsNotWorthAChange) {
  for (const bool native : {false, true}) {
    LearningProgram program = program_of(native ? with_native({1e-3, 0.985e-3}) : alike({1e-3, 0.985e-3}));
    program.calls(3000);
    EXPECT_TRUE(program.group().settled());
    EXPECT_EQ(program.group().best(), 0U);
  }
}

TEST(LearnGroup, ASlowOneServesOneCallWhereAnAgreementIsCheap) {
  MadeUpKind kind = alike({1e-3, 1.8e-3});
  kind.length = Group::Length::much;
  LearningProgram program = program_of(kind);
  program.calls(4000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.served(1), 1);
}

TEST(LearnGroup, WhatTheModelTakesForTwiceAsSlowIsNotTried) {
  MadeUpKind kind = alike({1e-3, 0.5e-3});
  kind.candidates[1].predicted_s = 2.1e-3;
  LearningProgram program = program_of(kind);
  program.calls(4000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.served(1), 0);
}

TEST(LearnGroup, NothingIsTriedThatCannotBePaidFor) {
  // 100 calls of 10 us allow 20 us at 2 %, and the preparation of an algorithm takes 50 us.
  LearningProgram program = program_of(alike({1e-5, 1e-6}));
  program.calls(100);
  EXPECT_EQ(program.served(1), 0);
  program.calls(10000);
  EXPECT_EQ(program.group().best(), 1U);
}

TEST(LearnGroup, OnlyWhatMustBePreparedIsExpectedToCostThat) {
  for (const bool native : {false, true}) {
    MadeUpKind kind = native ? with_native({1e-5, 1e-5}) : alike({1e-5, 1e-5});
    LearningProgram program = program_of(kind);
    program.calls(40);
    EXPECT_EQ(program.served(1) > 0, native);
  }
}

TEST(LearnGroup, AWinnerThatGetsSlowIsComparedAnew) {
  LearningProgram program = program_of(alike({2e-4, 1e-4}));
  program.calls(3000);
  ASSERT_EQ(program.group().best(), 1U);
  program.set_times(0, {2e-4, 5e-4});
  program.calls(20000);
  EXPECT_EQ(program.group().best(), 0U);
  EXPECT_EQ(program.group().searches(), 2);
}

TEST(LearnGroup, AWinnerThatStaysIsLookedAtSeldom) {
  LearningProgram program = program_of(alike({2e-4, 1e-4}));
  program.calls(3000);
  const int before = program.agreements();
  program.calls(100000);
  EXPECT_LE(program.agreements() - before, 7);
  EXPECT_EQ(program.group().searches(), 1);
}

TEST(LearnGroup, TheGainIsThatOfTheContests) {
  for (const bool native : {false, true}) {
    const std::vector<double> times{4e-4, 2e-4, 1e-4};
    LearningProgram program = program_of(native ? with_native(times) : alike(times));
    program.calls(5000);
    ASSERT_EQ(program.group().best(), 2U);
    EXPECT_NEAR(program.group().gain(), 4.0, 0.2);
  }
}

TEST(LearnGroup, WhatIsSavedIsTheDifferenceToTheFirstOfAllLaterCalls) {
  LearningProgram program = program_of(alike({4e-4, 1e-4}));
  program.calls(20000);
  const auto calls = static_cast<double>(program.served(1));
  EXPECT_NEAR(program.group().saved_s(), calls * 3e-4, calls * 3e-5);
}

TEST(LearnGroup, NothingIsSavedWhereTheFirstStays) {
  LearningProgram program = program_of(with_native({1e-4, 2e-4}));
  program.calls(5000);
  EXPECT_EQ(program.group().saved_s(), 0);
}

TEST(LearnGroup, CallsThatArePassedOverCountAsIfTheyWereAskedAbout) {
  const std::vector<Group::Candidate> candidates{{.predicted_s = 1e-4}, {.predicted_s = 1e-4}};
  Group asked(candidates), passed(candidates);
  Account asked_account, passed_account;
  const std::vector<double> times{3e-4, 1e-4};
  const auto ask = [&](Group& group, Account& account) {
    const Group::Turn turn = group.next(account);
    if (turn.timed) group.took(times[turn.candidate]);
    if (group.agreement_due()) {
      Agreement agreement;
      agreement.add(group);
      agreement.close(1e-6);
      agreement.end(account);
    }
    return turn;
  };
  for (int i = 0; i < 30000;) {
    const Group::Turn turn = ask(passed, passed_account);
    // A rank may begin a contest a few calls later, so that the other one follows it.
    const int quiet_calls = turn.timed ? 0 : passed.quiet();
    passed.passed_over(quiet_calls, passed_account);
    i += 1 + quiet_calls;
  }
  while (asked.calls() < passed.calls()) ask(asked, asked_account);
  EXPECT_EQ(passed.best(), 1U);
  EXPECT_EQ(asked.best(), 1U);
  EXPECT_EQ(passed.calls(), asked.calls());
  EXPECT_EQ(passed.settled(), asked.settled());
  EXPECT_NEAR(passed.saved_s(), asked.saved_s(), 0.01 * asked.saved_s());
  EXPECT_NEAR(passed_account.in_collectives_s(), asked_account.in_collectives_s(),
              0.01 * asked_account.in_collectives_s());
}

TEST(LearnGroup, WhatWasKnownServesFromTheFirstCallAndMeetsTheFirstOnly) {
  LearningProgram program = program_of(alike({4e-4, 2e-4, 1e-4}, 2));
  program.calls(5000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 2U);
  EXPECT_EQ(program.made().front().served, 2U);
  EXPECT_EQ(program.served(1), 0);
  EXPECT_LE(program.served(0), 5);
  EXPECT_NEAR(program.group().gain(), 4.0, 0.2);
  EXPECT_GT(program.group().saved_s(), 0);
}

TEST(LearnGroup, NothingIsTriedWhereTheFirstWasKnownToBeTheBest) {
  LearningProgram program = program_of(alike({2e-4, 1e-4}, 0));
  program.calls(3000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.served(1), 0);
}

TEST(LearnGroup, WhatWasKnownAndIsSlowNowIsSearchedAnew) {
  LearningProgram program = program_of(alike({2e-4, 1e-4, 4e-4}, 2));
  program.calls(20000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 1U);
  EXPECT_EQ(program.made().back().served, 1U);
}

TEST(LearnGroup, CallsOfLikeSizesAreComparedWhereRanksKnowDifferentOnes) {
  MadeUpKind kind = with_native({2e-3, 1e-3, 1.5e-3});
  kind.sizes = {1, 1.1};
  LearningProgram program = program_of(kind);
  program.calls(3000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 1U);
}

TEST(LearnGroup, CallsOfUnlikeSizesAreNotComparedAndSoonNothingIsTried) {
  // Native would serve the long calls only, or the short ones only.
  for (const std::vector<double>& sizes : {std::vector<double>{1, 10}, {10, 1}, {1, 10, 3}}) {
    MadeUpKind kind = with_native({1e-3, 2e-3, 1.5e-3});
    kind.sizes = sizes;
    LearningProgram program = program_of(kind);
    program.calls(3000);
    EXPECT_EQ(program.group().best(), 0U);
    EXPECT_LE(program.served(1), 10);
    EXPECT_EQ(program.served(2), 0);
    EXPECT_EQ(program.made().back().served, 0U);
  }
}

TEST(LearnGroup, ASizeThatChangesLaterEndsLearning) {
  MadeUpKind kind = with_native({2e-3, 1e-3});
  kind.sizes.assign(6000, 8);
  std::fill(kind.sizes.begin() + 2000, kind.sizes.end(), 1.0);
  LearningProgram program = program_of(kind);
  program.calls(2000);
  EXPECT_EQ(program.made().back().served, 1U);
  program.calls(4000);
  EXPECT_EQ(program.made().back().served, 0U);
}

TEST(LearnGroup, AnAgreementIsForAllGroupsThatHaveTimes) {
  const MadeUpKind kind = with_native({2e-4, 1e-4});
  LearningProgram alone({kind}, quiet, 42), together({kind, kind, kind, kind}, quiet, 42);
  alone.calls(30);
  for (int i = 0; i < 30; ++i) {
    for (std::size_t group = 0; group < 4; ++group) together.call(group);
  }
  for (std::size_t group = 0; group < 4; ++group) EXPECT_EQ(together.group(group).best(), 1U);
  EXPECT_EQ(together.agreements(), alone.agreements());
}

}  // namespace
