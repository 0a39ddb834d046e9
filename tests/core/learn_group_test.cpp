// The search for the fastest candidate, on calls whose times are made up: two ranks, one late now and then.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "wrappers/learn/group.hpp"

using circoll::learn::Account;
using circoll::learn::Group;
using circoll::learn::Limits;

namespace {

std::vector<Group::Candidate> unprepared(const std::vector<double>& predicted_s) {
  std::vector<Group::Candidate> candidates;
  for (const double seconds : predicted_s) candidates.push_back({.predicted_s = seconds});
  return candidates;
}

/// A program's calls of one kind on `ranks` ranks, each of which has a group and an account.
class LearningProgram {
 public:
  LearningProgram(std::vector<double> times_s, const std::vector<double>& predicted_s, Limits limits = {},
                  std::optional<std::size_t> known = {})
      : times_s_(std::move(times_s)),
        groups_(2, Group(unprepared(predicted_s), known)),
        accounts_(2, Account(limits)) {}

  void set_times(std::vector<double> times_s) { times_s_ = std::move(times_s); }

  /// One call. All ranks must agree on who serves it.
  void call() {
    const Group::Turn turn = groups_[0].next(accounts_[0]);
    for (std::size_t rank = 1; rank < groups_.size(); ++rank) {
      const Group::Turn other = groups_[rank].next(accounts_[rank]);
      ASSERT_EQ(other.candidate, turn.candidate);
      ASSERT_EQ(other.timed, turn.timed);
    }
    served_.push_back(turn.candidate);
    double longest_s = 0;
    for (Group& group : groups_) {
      const double took_s = times_s_[turn.candidate] * noise_(random_);
      if (turn.timed) group.took(took_s);
      longest_s = std::max(longest_s, took_s);
    }
    total_s_ += longest_s;
    if (groups_[0].agreement_due()) agree();
  }

  void calls(int number) {
    for (int i = 0; i < number; ++i) ASSERT_NO_FATAL_FAILURE(call());
  }

  [[nodiscard]] const Group& group() const { return groups_[0]; }
  [[nodiscard]] const Account& account() const { return accounts_[0]; }
  [[nodiscard]] const std::vector<std::size_t>& served() const { return served_; }
  [[nodiscard]] double total_s() const { return total_s_; }
  [[nodiscard]] int agreements() const { return agreements_; }

 private:
  void agree() {
    ++agreements_;
    std::vector<double> greatest(groups_[0].local().begin(), groups_[0].local().end());
    for (const Group& group : groups_) {
      ASSERT_TRUE(group.agreement_due());
      ASSERT_EQ(group.local().size(), greatest.size());
      for (std::size_t i = 0; i < greatest.size(); ++i) greatest[i] = std::max(greatest[i], group.local()[i]);
    }
    for (std::size_t rank = 0; rank < groups_.size(); ++rank) groups_[rank].agreed(greatest, 2e-6, accounts_[rank]);
  }

  std::vector<double> times_s_;
  std::vector<Group> groups_;
  std::vector<Account> accounts_;
  std::vector<std::size_t> served_;
  double total_s_ = 0;
  int agreements_ = 0;
  std::mt19937 random_{42};
  std::uniform_real_distribution<double> noise_{1.0, 1.05};
};

TEST(LearnGroup, ProgramsWithFewCallsNoticeNothing) {
  LearningProgram program({1e-3, 1e-5}, {1e-3, 1e-5});
  program.calls(7);
  EXPECT_EQ(program.agreements(), 0);
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 0U), 7);
}

TEST(LearnGroup, OneCandidateIsNeverTimed) {
  LearningProgram program({1e-3}, {1e-3});
  program.calls(10000);
  EXPECT_EQ(program.agreements(), 0);
  EXPECT_FALSE(program.group().settled());
}

TEST(LearnGroup, TheFastestStays) {
  for (std::size_t fastest = 0; fastest < 4; ++fastest) {
    std::vector<double> times{2e-3, 2.4e-3, 1.9e-3, 8e-3};
    times[fastest] = 1e-3;
    LearningProgram program(times, {1e-3, 0, 1e-3, 1.1e-3});
    program.calls(5000);
    EXPECT_TRUE(program.group().settled());
    EXPECT_EQ(program.group().best(), fastest);
    EXPECT_EQ(program.served().back(), fastest);
  }
}

TEST(LearnGroup, AboutAsFastIsNotWorthAChange) {
  LearningProgram program({1e-3, 0.985e-3}, {1e-3, 1e-3});
  program.calls(3000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 0U);
}

TEST(LearnGroup, AHopelessOneIsDroppedAfterFewCalls) {
  LearningProgram program({1e-4, 1e-2}, {1e-4, 1e-4});
  program.calls(4000);
  EXPECT_TRUE(program.group().tried()[1].dropped);
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 1U), 5);
}

TEST(LearnGroup, TryingTakesItsShareOnceItIsPaidFor) {
  // No candidate is faster than the first one, so that all time above its own is the price.
  const Limits limits{.share = 0.02, .most_s = 10};
  LearningProgram program({1e-4, 1.2e-4, 1.9e-4, 1.1e-4}, {1e-4, 0, 1e-4, 1e-4}, limits);
  program.calls(20000);
  EXPECT_TRUE(program.group().settled());
  const double least_s = 20000 * 1e-4;
  EXPECT_LT(program.total_s(), least_s * 1.05 * (1 + limits.share));
  EXPECT_LE(program.account().tried_s(), limits.share * program.account().in_collectives_s());
}

TEST(LearnGroup, NothingIsTriedThatCannotBePaidFor) {
  // 100 calls of 10 us allow 20 us at 2 %, and the preparation of an algorithm takes 50 us.
  LearningProgram program({1e-5, 1e-6}, {1e-5, 1e-6});
  program.calls(100);
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 1U), 0);
  program.calls(10000);
  EXPECT_EQ(program.group().best(), 1U);
}

TEST(LearnGroup, AGroupSpendsNoMoreThanItsLimit) {
  LearningProgram program({1e-3, 1.2e-3, 1.2e-3}, {1e-3, 1e-3, 1e-3}, {.share = 1.0, .most_s = 3e-3});
  program.calls(2000);
  EXPECT_GT(program.group().spent_s(), 3e-3);  // the first duel was dearer than expected
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 2U), 0);
}

TEST(LearnGroup, AWinnerThatGetsSlowIsComparedAnew) {
  LearningProgram program({2e-4, 1e-4}, {1e-4, 1e-4});
  program.calls(3000);
  ASSERT_EQ(program.group().best(), 1U);
  program.set_times({2e-4, 5e-4});
  program.calls(20000);
  EXPECT_EQ(program.group().best(), 0U);
  EXPECT_EQ(program.group().searches(), 2);
}

TEST(LearnGroup, AWinnerThatStaysIsLookedAtSeldom) {
  LearningProgram program({2e-4, 1e-4}, {1e-4, 1e-4});
  program.calls(3000);
  const int before = program.agreements();
  program.calls(100000);
  EXPECT_LE(program.agreements() - before, 5);
  EXPECT_EQ(program.group().searches(), 1);
}

TEST(LearnGroup, TheGainIsThatOfTheDuels) {
  LearningProgram program({4e-4, 2e-4, 1e-4}, {1e-4, 1e-4, 1e-4});
  program.calls(5000);
  ASSERT_EQ(program.group().best(), 2U);
  EXPECT_NEAR(program.group().gain(), 4.0, 0.4);
}

TEST(LearnGroup, WhatIsSavedIsTheDifferenceToTheFirstOfAllLaterCalls) {
  LearningProgram program({4e-4, 1e-4}, {1e-4, 1e-4});
  program.calls(20000);
  const auto calls = std::count(program.served().begin(), program.served().end(), 1U);
  EXPECT_NEAR(program.group().saved_s(), static_cast<double>(calls) * 3e-4, static_cast<double>(calls) * 3e-5);
}

TEST(LearnGroup, NothingIsSavedWhereTheFirstStays) {
  LearningProgram program({1e-4, 2e-4}, {1e-4, 1e-4});
  program.calls(5000);
  EXPECT_EQ(program.group().saved_s(), 0);
}

TEST(LearnGroup, CallsThatArePassedOverCountAsIfTheyWereAskedAbout) {
  const std::vector<Group::Candidate> candidates{{.predicted_s = 1e-4}, {.predicted_s = 1e-4, .prepared = true}};
  Group asked(candidates), passed(candidates);
  Account asked_account, passed_account;
  const std::vector<double> times{3e-4, 1e-4};
  const auto ask = [&](Group& group, Account& account) {
    const Group::Turn turn = group.next(account);
    if (turn.timed) group.took(times[turn.candidate]);
    if (group.agreement_due()) {
      const std::vector<double> agreed(group.local().begin(), group.local().end());
      group.agreed(agreed, 1e-6, account);
    }
    return turn;
  };
  for (int i = 0; i < 30000;) {
    const Group::Turn turn = ask(passed, passed_account);
    // A rank may begin a duel a few calls later, so that the other one follows it.
    const int quiet = turn.timed ? 0 : passed.quiet();
    passed.passed_over(quiet, passed_account);
    i += 1 + quiet;
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

TEST(LearnGroup, OnlyWhatMustBePreparedIsExpectedToCostThat) {
  // 30 calls of 10 us allow 6 us at 2 %. That is enough for agreements, and too little to prepare an algorithm.
  for (const bool prepared : {false, true}) {
    Group group({{.predicted_s = 1e-5}, {.predicted_s = 1e-5, .prepared = prepared}});
    Account account;
    bool tried = false;
    for (int i = 0; i < 40; ++i) {
      const Group::Turn turn = group.next(account);
      tried = tried || turn.candidate == 1;
      if (turn.timed) group.took(1e-5);
      if (!group.agreement_due()) continue;
      const std::vector<double> agreed(group.local().begin(), group.local().end());
      group.agreed(agreed, 1e-6, account);
    }
    EXPECT_EQ(tried, prepared);
  }
}

TEST(LearnGroup, WhatWasKnownServesFromTheFirstCallAndMeetsTheFirstOnly) {
  LearningProgram program({4e-4, 2e-4, 1e-4}, {1e-4, 1e-4, 1e-4}, {}, 2);
  program.calls(5000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 2U);
  EXPECT_EQ(program.served().front(), 2U);
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 1U), 0);
  EXPECT_NEAR(program.group().gain(), 4.0, 0.4);
  EXPECT_GT(program.group().saved_s(), 0);
}

TEST(LearnGroup, NothingIsTriedWhereTheFirstWasKnownToBeTheBest) {
  LearningProgram program({2e-4, 1e-4}, {1e-4, 1e-4}, {}, 0);
  program.calls(3000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(std::count(program.served().begin(), program.served().end(), 1U), 0);
}

TEST(LearnGroup, WhatWasKnownAndIsSlowNowIsSearchedAnew) {
  LearningProgram program({2e-4, 1e-4, 4e-4}, {1e-4, 1e-4, 1e-4}, {}, 2);
  program.calls(20000);
  EXPECT_TRUE(program.group().settled());
  EXPECT_EQ(program.group().best(), 1U);
  EXPECT_EQ(program.served().back(), 1U);
}

}  // namespace
