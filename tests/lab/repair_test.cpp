// Repairs of collectives in which ranks have died. Survivors plan, prove and execute them.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "fault_injection.hpp"
#include "faults/faults.hpp"
#include "repair/failures.hpp"

namespace circoll {
namespace {

using local::FaultInjection;
using local::Mode;

/// Sanitized builds are slow, and find the same errors with fewer ranks.
#ifdef CIRCOLL_SANITIZED
constexpr Rank most_ranks = 4;
#else
constexpr Rank most_ranks = 9;
#endif

constexpr std::array repaired{Collective::allreduce, Collective::reduce, Collective::reduce_scatter,
                              Collective::allgather, Collective::bcast};

std::uint64_t bit(Rank r) { return std::uint64_t{1} << static_cast<unsigned>(r); }
std::uint64_t all_of(Rank p) { return p == 64 ? ~std::uint64_t{0} : bit(p) - 1; }

/// A call, its schedules and its analyses.
struct Subject {
  Subject(const Algorithm& a, Collective c, const Shape& s, Keep k)
      : algorithm(&a), collective(c), shape(s), keep(k), ranks(build_all_ranks(a, c, s)), analysis(a, c, s, k) {}

  [[nodiscard]] std::string name() const {
    return std::string(to_string(collective)) + "/" + std::string(algorithm->name) +
           " p=" + std::to_string(shape.size) + " root=" + std::to_string(shape.root) +
           (shape.in_place ? " in place" : "") + " keep=" + std::string(to_string(keep));
  }
  /// The contributions that a block's result has if those of all ranks, or of the survivors, count.
  [[nodiscard]] std::uint64_t contributions(Block block) const {
    if (is_reducing(collective)) return all_of(shape.size);
    return bit(collective == Collective::bcast ? shape.root : block / ranks[0].segments);
  }

  const Algorithm* algorithm;
  Collective collective;
  Shape shape;
  Keep keep;
  std::vector<Schedule> ranks;
  FaultAnalysis analysis;
};

/// The failures of a test, counted by how they ended.
struct Tally {
  int full = 0, surv = 0, none = 0;
};

/// Looks at every element of the survivors' results.
void expect_results(const FaultInjection& injection, const Subject& subject, const Repair& repair, Rank failed,
                    const std::string& name) {
  for (Rank r = 0; r < subject.shape.size; ++r) {
    if (r == failed) continue;
    const Schedule& s = subject.ranks[static_cast<std::size_t>(r)];
    const CollectiveContract contract = contract_of(s.collective, s.shape, s.segments);
    for (Slot slot = contract.output_first; slot < contract.output_first + contract.output_count; ++slot) {
      const Block block = s.block_of(contract.output_buffer, slot);
      std::uint64_t wanted = subject.contributions(block);
      if (repair.goal == FailureClass::surv) wanted &= ~bit(failed);
      if (wanted == 0) continue;
      ASSERT_TRUE(injection.is_result(r, block, wanted)) << name << ", block " << block << " of rank " << r;
    }
  }
}

/// Lets a rank stop after some steps. The others repair, and the test checks every element of their results.
void injection(const Subject& subject, Rank failed, std::size_t steps, std::uint64_t seed, Mode mode, Tally& tally) {
  const std::string name = subject.name() + ", rank " + std::to_string(failed) + " stops after " +
                           std::to_string(steps) + " steps, seed " + std::to_string(seed);
  FaultInjection injection(subject.ranks, 2 * subject.ranks[0].segments + 1);
  const Schedule& own = subject.ranks[static_cast<std::size_t>(failed)];
  const Progress progress = injection.run({{failed, local::steps_before_stop(own, steps, seed)}}, mode);
  const std::array dead{failed};
  const Repair repair = subject.analysis.repair(progress, dead);
  ASSERT_TRUE(injection.send_buffers_intact()) << name;
  if (repair.goal == FailureClass::none) {
    ++tally.none;
    EXPECT_FALSE(repair.why.empty()) << name;
    return;
  }
  ++(repair.goal == FailureClass::full ? tally.full : tally.surv);
  injection.run(repair, mode);
  EXPECT_TRUE(injection.send_buffers_intact()) << name;
  expect_results(injection, subject, repair, failed, name);
}

bool can_serve(const Algorithm& algorithm, Rank p) {
  return unmet_need(algorithm, p, {.commutative = true, .idempotent = false}).empty();
}

/// Runs a injection for every failed rank and every step.
void drill_all(const Subject& subject, std::uint64_t seed, Mode mode, Tally& tally) {
  for (Rank failed = 0; failed < subject.shape.size; ++failed) {
    const std::size_t all = subject.ranks[static_cast<std::size_t>(failed)].steps.size();
    for (std::size_t steps = 0; steps <= all && !testing::Test::HasFailure(); ++steps)
      injection(subject, failed, steps, seed, mode, tally);
  }
}

class Repaired : public testing::TestWithParam<Collective> {};

TEST_P(Repaired, WhoeverStopsAtWhateverStep) {
  const Collective collective = GetParam();
  Tally tally;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    for (Rank p = 2; p <= most_ranks; ++p) {
      if (!can_serve(*algorithm, p)) continue;
      for (const Keep keep : {Keep::buf, Keep::keep}) {
        const Subject subject(*algorithm, collective, {.size = p, .root = is_rooted(collective) ? p / 2 : 0}, keep);
        drill_all(subject, 0, Mode::single_thread, tally);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(tally.full, 0);
  if (collective != Collective::bcast) {
    EXPECT_GT(tally.surv, 0);
  }
}

// With the send buffers there is always a repair, unless the root is gone.
TEST_P(Repaired, SendBuffersAreEnough) {
  const Collective collective = GetParam();
  if (is_rooted(collective)) return;
  Tally tally;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    for (const Rank p : {3, 4}) {
      if (!can_serve(*algorithm, p)) continue;
      drill_all({*algorithm, collective, {.size = p}, Keep::keep}, 1, Mode::single_thread, tally);
    }
  }
  EXPECT_EQ(tally.none, 0);
}

TEST_P(Repaired, InThreadsThatStopAtOnce) {
  const Collective collective = GetParam();
  Tally tally;
  std::mt19937_64 random(7);
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    for (const Rank p : {2, 3, 5, 8}) {
      if (!can_serve(*algorithm, p)) continue;
      const Subject subject(*algorithm, collective, {.size = p, .root = is_rooted(collective) ? p - 1 : 0},
                            random() % 2 == 0 ? Keep::buf : Keep::keep);
      for (int i = 0; i < 6; ++i) {
        const Rank failed = static_cast<Rank>(random() % static_cast<std::uint64_t>(p));
        const std::size_t all = subject.ranks[static_cast<std::size_t>(failed)].steps.size();
        injection(subject, failed, random() % (all + 1), 0, Mode::threads, tally);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(tally.full + tally.surv, 0);
}

TEST_P(Repaired, SampledWithMoreRanksAndOrders) {
  const Collective collective = GetParam();
  Tally tally;
  std::mt19937_64 random(11);
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    for (const Rank p : {11, 16, 24, 33}) {
      if (p > 3 * most_ranks + 6 || !can_serve(*algorithm, p)) continue;
      const Subject subject(*algorithm, collective, {.size = p, .root = is_rooted(collective) ? 1 : 0},
                            random() % 2 == 0 ? Keep::buf : Keep::keep);
      for (int i = 0; i < 3; ++i) {
        const Rank failed = static_cast<Rank>(random() % static_cast<std::uint64_t>(p));
        const std::size_t all = subject.ranks[static_cast<std::size_t>(failed)].steps.size();
        injection(subject, failed, random() % (all + 1), random(), Mode::single_thread, tally);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

std::string name_of(const testing::TestParamInfo<Collective>& info) { return std::string(to_string(info.param)); }
INSTANTIATE_TEST_SUITE_P(All, Repaired, testing::ValuesIn(repaired), name_of);

TEST(Repair, InPlaceTooWhileTheContributionsLast) {
  Tally tally;
  for (const Algorithm* algorithm : algorithms_of(Collective::allreduce)) {
    for (const Rank p : {3, 4}) {
      if (!can_serve(*algorithm, p)) continue;
      drill_all({*algorithm, Collective::allreduce, {.size = p, .in_place = true}, Keep::keep}, 0, Mode::single_thread,
                tally);
    }
  }
  EXPECT_GT(tally.full, 0);
  EXPECT_GT(tally.surv, 0);
  EXPECT_GT(tally.none, 0) << "what was overwritten and mixed is lost";
}

TEST(Repair, SaysAfterRoundsWhatTheAnalysisSays) {
  for (const char* const id : {"allreduce/recursive_doubling", "allreduce/ring", "allreduce/rabenseifner",
                               "allreduce/circulant_optimal", "reduce_scatter/circulant_optimal", "allgather/bruck"}) {
    const Selection selection = parse_selection(id);
    for (const Keep keep : {Keep::buf, Keep::keep}) {
      const FaultAnalysis analysis(*selection.algorithm, selection.collective, {.size = 8}, keep);
      for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
        for (Rank f = 0; f < 8; ++f) {
          const std::array failed{f};
          const FailureOutcome outcome = analysis.after(k, failed);
          const Repair repair = analysis.repair_after(k, failed);
          const bool some = is_full(outcome.what) || outcome.what == FailureClass::surv;
          EXPECT_EQ(repair.goal == FailureClass::full, is_full(outcome.what)) << id << " k=" << k << " f=" << f;
          EXPECT_EQ(repair.goal != FailureClass::none, some) << id << " k=" << k << " f=" << f;
          if (some) {
            EXPECT_EQ(repair.pieces, outcome.pieces) << id << " k=" << k << " f=" << f;
          }
        }
      }
    }
  }
}

TEST(Repair, OfTwoFailuresAtOnce) {
  const Selection selection = parse_selection("allreduce/recursive_doubling");
  const FaultAnalysis analysis(*selection.algorithm, selection.collective, {.size = 8}, Keep::keep);
  // Ranks 2 and 3 know the same after one round, and nobody else knows their sum.
  EXPECT_EQ(analysis.repair_after(1, std::array<Rank, 2>{2, 3}).goal, FailureClass::surv);
  EXPECT_EQ(analysis.repair_after(1, std::array<Rank, 2>{2, 4}).goal, FailureClass::full);
  const Repair repair = analysis.repair_after(2, std::array<Rank, 2>{2, 3});
  EXPECT_EQ(repair.goal, FailureClass::full);
  EXPECT_EQ(repair.pieces, 2);
  EXPECT_TRUE(repair.guarantees.rank_order);
  EXPECT_TRUE(repair.guarantees.same_bits);
  // Two halves meet at one rank, and five other ranks get the sum, in doubling steps.
  EXPECT_LE(repair.cost.rounds, 1 + 3);
}

TEST(Repair, CostsNothingWhereAllIsDone) {
  const Selection selection = parse_selection("allreduce/circulant");
  const FaultAnalysis analysis(*selection.algorithm, selection.collective, {.size = 7}, Keep::buf);
  const Repair repair = analysis.repair_after(analysis.rounds(), std::array<Rank, 1>{3});
  EXPECT_EQ(repair.goal, FailureClass::full);
  EXPECT_EQ(repair.cost.rounds, 0);
  EXPECT_EQ(repair.cost.sent, 0);
}

TEST(Repair, RefusesWhatCannotHaveHappened) {
  const Selection selection = parse_selection("allreduce/ring");
  const FaultAnalysis analysis(*selection.algorithm, selection.collective, {.size = 4}, Keep::keep);
  std::vector<Schedule> ranks = build_all_ranks(*selection.algorithm, selection.collective, {.size = 4});
  Progress progress;
  for (const Schedule& s : ranks) progress.emplace_back(s.steps.size(), false);
  EXPECT_EQ(analysis.repair(progress, std::array<Rank, 1>{0}).goal, FailureClass::surv);
  progress[1].back() = true;
  EXPECT_THROW((void)analysis.repair(progress, std::array<Rank, 1>{0}), Error);
  progress[1].pop_back();
  EXPECT_THROW((void)analysis.repair(progress, std::array<Rank, 1>{0}), Error);
  EXPECT_THROW((void)analysis.repair({}, std::array<Rank, 1>{0}), Error);
}

/// Takes some receives of survivors for torn, as if messages had been interrupted half-way.
Progress tear(const Subject& subject, const Progress& ended, Rank failed, std::mt19937_64& random) {
  Progress torn;
  for (Rank r = 0; r < subject.shape.size; ++r) {
    const Schedule& schedule = subject.ranks[static_cast<std::size_t>(r)];
    std::vector<bool> bits(schedule.steps.size(), false);
    for (std::size_t i = 0; i < bits.size(); ++i)
      bits[i] = r != failed && !ended[static_cast<std::size_t>(r)][i] && schedule.steps[i].kind == StepKind::recv &&
                random() % 2 == 0;
    torn.push_back(std::move(bits));
  }
  return torn;
}

// An interrupted message may leave any values where it was to arrive.
TEST(Repair, TrustsNoMemoryThatWasBeingWritten) {
  std::mt19937_64 random(3);
  int repaired_ones = 0;
  int poorer = 0;
  for (const Collective collective : repaired) {
    for (const Algorithm* algorithm : algorithms_of(collective)) {
      for (const Rank p : {3, 4, 5}) {
        if (p > most_ranks || !can_serve(*algorithm, p)) continue;
        const Subject subject(*algorithm, collective, {.size = p}, Keep::log);
        for (int i = 0; i < 8; ++i) {
          const Rank failed = static_cast<Rank>(1 + random() % static_cast<std::uint64_t>(p - 1));
          const std::array dead{failed};
          const Schedule& own = subject.ranks[static_cast<std::size_t>(failed)];
          FaultInjection injection(subject.ranks, 2 * subject.ranks[0].segments + 1);
          const Progress progress =
              injection.run({{failed, local::steps_before_stop(own, random() % (own.steps.size() + 1), random())}},
                            Mode::single_thread);
          const Progress torn = tear(subject, progress, failed, random);
          injection.overwrite(torn);
          const bool idempotent = needs_of(*algorithm, collective, {}).idempotent;
          const Repair repair = plan_repair(subject.ranks, idempotent, progress, torn, dead);
          const Repair otherwise = subject.analysis.repair(progress, dead);
          poorer += static_cast<int>(repair.pieces > otherwise.pieces || repair.goal != otherwise.goal);
          if (repair.goal == FailureClass::none) continue;
          ++repaired_ones;
          injection.run(repair, Mode::single_thread);
          expect_results(injection, subject, repair, failed, subject.name() + ", torn");
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(repaired_ones, 100);
  EXPECT_GT(poorer, 0) << "nothing of use was torn";
}

// A message may have left its sender and reached nobody.
TEST(Repair, KnowsMessagesThatAreOnTheirWay) {
  const Selection selection = parse_selection("allreduce/recursive_doubling");
  const FaultAnalysis analysis(*selection.algorithm, selection.collective, {.size = 4}, Keep::buf);
  std::vector<Schedule> ranks = build_all_ranks(*selection.algorithm, selection.collective, {.size = 4});
  Progress progress;
  for (const Schedule& s : ranks) progress.emplace_back(s.steps.size(), false);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t i = 0; i < ranks[r].steps.size(); ++i) {
      const Step& step = ranks[r].steps[i];
      progress[r][i] = step.round == 0 && step.kind == StepKind::send;
    }
  }
  const Repair repair = analysis.repair(progress, std::array<Rank, 1>{0});
  EXPECT_EQ(repair.goal, FailureClass::surv);
  EXPECT_EQ(repair.pieces, 3);
}

}  // namespace
}  // namespace circoll
