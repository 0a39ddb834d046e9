// The judge of runs in pairs, in 40 cases of which the truth is known.
//
// A simulated machine and a simulated clock make the times, so no case depends on the machine of the test. It prints
// the table of docs/experiments/verdicts.md.
#include "facts/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace circoll {
namespace {

constexpr double limit_s = 60;
constexpr double program_s = 0.66;  // as users' programs; without the change, on the quiet machine

using Random = std::mt19937_64;

double uniform(Random& random) { return std::uniform_real_distribution<double>(0, 1)(random); }
double exponential(Random& random, double mean) { return std::exponential_distribution<double>(1 / mean)(random); }
double normal(Random& random) { return std::normal_distribution<double>()(random); }

/// A machine whose other processes come and go.
struct Conditions {
  const char* name;
  bool quiet;
  double spread;            ///< standard deviation of the logarithm of a run's time
  double outliers;          ///< the share of runs that something delays
  double delay;             ///< the mean delay of these, as a share of their time
  double burst_s, pause_s;  ///< mean lengths; burst_s 0: it is always as in a pause
  double slower;            ///< a program takes so many times as long in a burst
  double steady;            ///< and so many times always
  double drift;             ///< growth of that factor over the limit, with a wave of 7 s
};

constexpr std::array all_conditions{
    Conditions{"quiet", true, 0.01, 0, 0, 0, 1, 1, 1, 0},
    Conditions{"quiet, spread of 4 %", true, 0.04, 0, 0, 0, 1, 1, 1, 0},
    Conditions{"quiet, one run of 20 delayed", true, 0.01, 0.05, 0.3, 0, 1, 1, 1, 0},
    Conditions{"a busy loop per core", false, 0.08, 0, 0, 0, 1, 1, 2, 0},
    Conditions{"the same, one run of 10 delayed", false, 0.08, 0.1, 0.5, 0, 1, 1, 2, 0},
    Conditions{"bursts of 2 s", false, 0.03, 0, 0, 2, 3, 2.5, 1, 0},
    Conditions{"bursts of 0.3 s", false, 0.05, 0, 0, 0.3, 0.3, 2, 1, 0},
    Conditions{"drift to half the speed", false, 0.02, 0, 0, 0, 1, 1, 1, 1},
};
constexpr std::array ratios{1.0, 0.9, 1.05, 1.3, 2.0};

class Machine {
 public:
  Machine(const Conditions& conditions, Random& random) : is_(conditions), random_(random) {}

  struct Run {
    double seconds, others;
  };
  /// Runs a program that takes so long on the quiet machine.
  Run run(double work_s) {
    work_s *= std::exp(is_.spread * normal(random_));
    if (uniform(random_) < is_.outliers) work_s *= 1 + exponential(random_, is_.delay);
    const double begin_s = now_s_;
    double taken = 0;
    while (work_s > 0) {
      const double slow = factor();
      const double until = std::min({change_s(), now_s_ + work_s * slow, now_s_ + (is_.drift > 0 ? 0.2 : limit_s)});
      const double step_s = std::max(until - now_s_, 1e-9);
      work_s -= step_s / slow;
      taken += step_s * (1 - 1 / slow);
      now_s_ += step_s;
    }
    const double seconds = now_s_ - begin_s;
    return {seconds, std::clamp(taken / seconds + 0.02 * normal(random_), 0.0, 1.0)};
  }
  [[nodiscard]] double now_s() const { return now_s_; }

 private:
  double factor() {
    double slow = is_.steady * (bursting_ ? is_.slower : 1);
    if (is_.drift > 0) slow *= 1 + is_.drift * now_s_ / limit_s + 0.3 * (1 + std::sin(now_s_ * 2 * 3.14159 / 7));
    return slow;
  }
  /// When the burst or the pause ends.
  double change_s() {
    if (is_.burst_s == 0) return now_s_ + 2 * limit_s;
    while (change_s_ <= now_s_) {
      bursting_ = !bursting_;
      change_s_ += exponential(random_, bursting_ ? is_.burst_s : is_.pause_s);
    }
    return change_s_;
  }

  const Conditions& is_;
  Random& random_;
  double now_s_ = 0, change_s_ = 0;
  bool bursting_ = false;
};

struct Tally {
  int faster = 0, slower = 0, same = 0, undecided = 0, judgements = 0;
  double pairs = 0, seconds = 0;

  [[nodiscard]] int wrong(double ratio) const {
    if (ratio == 1) return faster + slower;
    return same + (ratio > 1 ? slower : faster);
  }
};

/// Runs a program of this ratio in pairs, as `circoll compare` does.
void judge_program(const Conditions& conditions, double ratio, Random& random, Tally& tally) {
  Machine machine(conditions, random);
  (void)machine.run(program_s);  // which warms up
  Judge judge;
  while (!judge.decided()) {
    const double first_s = machine.now_s();
    const bool with_first = uniform(random) < 0.5;
    std::array<Machine::Run, 2> runs{};  // without, with
    for (const bool with : {with_first, !with_first})
      runs.at(with ? 1 : 0) = machine.run(with ? program_s / ratio : program_s);
    judge.add({.without_s = runs[0].seconds,
               .with_s = runs[1].seconds,
               .others_without = runs[0].others,
               .others_with = runs[1].others});
    if (machine.now_s() + (machine.now_s() - first_s) > limit_s) break;
  }
  judge.finish();
  ++tally.judgements;
  switch (judge.verdict().change) {
    case Change::faster:
      ++tally.faster;
      break;
    case Change::slower:
      ++tally.slower;
      break;
    case Change::same:
      ++tally.same;
      break;
    default:
      ++tally.undecided;
      break;
  }
  tally.pairs += static_cast<double>(judge.pairs().size());
  tally.seconds += machine.now_s();
}

TEST(Verdicts, OfFortyCasesAreTrue) {
  constexpr int judgements = 2000;
  int wrong = 0, all = 0;
  std::puts("| machine | true ratio | faster | slower | same | not decided | wrong | pairs | seconds |");
  std::puts("|---|---|---|---|---|---|---|---|---|");
  std::uint64_t seed = 1;
  for (const Conditions& conditions : all_conditions) {
    for (const double ratio : ratios) {
      Random random(seed++);
      Tally tally;
      for (int i = 0; i < judgements; ++i) judge_program(conditions, ratio, random, tally);
      std::printf("| %s | %.2f | %d | %d | %d | %d | %d | %.0f | %.0f |\n", conditions.name, ratio, tally.faster,
                  tally.slower, tally.same, tally.undecided, tally.wrong(ratio), tally.pairs / judgements,
                  tally.seconds / judgements);
      // Each case may exceed the rate of 1 in 1,000 by chance, all of them together may not.
      EXPECT_LE(tally.wrong(ratio), judgements * 4 / 1000) << conditions.name << ", " << ratio;
      if (ratio >= 1.3) {
        EXPECT_LE(tally.undecided, judgements * (conditions.quiet ? 2 : 10) / 100) << conditions.name << ", " << ratio;
      }
      wrong += tally.wrong(ratio);
      all += tally.judgements;
    }
  }
  std::printf("%d of %d judgements are wrong.\n", wrong, all);
  EXPECT_LE(wrong, all / 1000);
}

std::vector<RunPair> pairs_of(std::initializer_list<double> ratios_of_pairs, double others = 0) {
  std::vector<RunPair> pairs;
  for (const double ratio : ratios_of_pairs) {
    pairs.push_back({.without_s = ratio, .with_s = 1, .others_without = others, .others_with = others});
  }
  return pairs;
}

TEST(Verdict, OfPairsWhoseNumberWasSet) {
  const auto quiet = pairs_of({1.50, 1.52, 1.51, 1.49, 1.50});
  const Judgement faster = judge(quiet);
  EXPECT_EQ(faster.change, Change::faster);
  EXPECT_NEAR(faster.ratio, 1.504, 0.001);
  EXPECT_EQ(faster.pairs, 5);
  EXPECT_EQ(faster.more_pairs, 0);
  EXPECT_EQ(judge(pairs_of({0.7, 0.71, 0.7, 0.69, 0.7})).change, Change::slower);
  EXPECT_EQ(judge(pairs_of({1.001, 1, 1.002, 0.999, 1.001, 1, 1})).change, Change::same);
  // The same pairs beside other processes are too few, whatever they say.
  const Judgement busy = judge(pairs_of({1.50, 1.52, 1.51, 1.49, 1.50}, 0.5));
  EXPECT_EQ(busy.change, Change::undecided);
  EXPECT_EQ(busy.more_pairs, 3);
  EXPECT_TRUE(std::isinf(busy.interval.high));
  const Judgement mixed = judge(pairs_of({1.5, 0.8, 2.1, 1.4, 0.9, 1.6, 1.1, 1.8, 1.3, 0.7}, 0.5));
  EXPECT_EQ(mixed.change, Change::undecided);
  EXPECT_EQ(mixed.disagreeing, 3);
  EXPECT_GT(mixed.more_pairs, 5);
  EXPECT_EQ(judge({}).change, Change::undecided);
}

TEST(Verdict, SmallDifferencesAreNotDecidedUnlessTheyAreSurelySmall) {
  // Surely above 1, but perhaps below 1.03 and perhaps above it.
  EXPECT_EQ(judge(pairs_of({1.026, 1.02, 1.03, 1.025, 1.015, 1.035})).change, Change::undecided);
  EXPECT_EQ(judge(pairs_of({1.026, 1.02, 1.03, 1.025, 1.015, 1.035}), {.same_within = 0.1}).change, Change::same);
}

TEST(Verdict, DisturbedPairsDoNotCount) {
  std::vector<RunPair> pairs = pairs_of({1.5, 1.5, 1.5, 1.5});
  pairs.push_back({.without_s = 1, .with_s = 9, .others_without = 0, .others_with = 0.8});
  const Judgement verdict = judge(pairs);
  EXPECT_EQ(verdict.disturbed, 1);
  EXPECT_EQ(verdict.pairs, 4);
  EXPECT_EQ(verdict.disagreeing, 0);
  // If the change itself lets others have more in every pair, all pairs count.
  for (RunPair& pair : pairs) pair.others_with = 0.4;
  EXPECT_EQ(judge(pairs).pairs, 5);
}

TEST(Verdict, ManyRowsErrNoMoreThanOne) {
  Random random(9);
  int wrong = 0;
  constexpr int trials = 1000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::vector<RunPair>> rows(8);
    for (auto& row : rows) {
      for (int i = 0; i < 12; ++i) {
        row.push_back({std::exp(0.2 * normal(random)), std::exp(0.2 * normal(random)), 0.5, 0.5});
      }
    }
    for (RunPair& pair : rows[0]) pair.without_s *= 4;
    const std::vector<Judgement> verdicts = judge_rows(rows, {.may_err = 0.05});
    EXPECT_EQ(verdicts[0].change, Change::faster);
    const auto claimed = [](const Judgement& one) {
      return one.change == Change::faster || one.change == Change::slower;
    };
    if (std::any_of(verdicts.begin() + 1, verdicts.end(), claimed)) ++wrong;
  }
  EXPECT_LE(wrong, trials * 6 / 100);
  EXPECT_GE(wrong, trials / 100);  // the correction is not larger than it has to be
}

TEST(Verdict, TheJudgeStopsWhenItIsDecided) {
  Judge judge;
  EXPECT_EQ(judge.verdict().pairs, 0);
  for (int i = 0; i < 3; ++i) judge.add({.without_s = 2, .with_s = 1 + 0.01 * i});
  EXPECT_FALSE(judge.decided());
  judge.add({.without_s = 2, .with_s = 1});
  EXPECT_TRUE(judge.decided());
  EXPECT_EQ(judge.verdict().change, Change::faster);
  judge.add({.without_s = 1, .with_s = 2});
  EXPECT_EQ(judge.pairs().size(), 4U);
  Judge short_one;
  short_one.add({.without_s = 2, .with_s = 1});
  short_one.finish();
  EXPECT_FALSE(short_one.decided());
  EXPECT_NEAR(short_one.verdict().ratio, 2, 1e-6);
}

}  // namespace
}  // namespace circoll
