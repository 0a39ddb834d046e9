// Messages that are combined as they arrive: the right ones are, and every reduction stays right.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "circoll/algorithm.hpp"
#include "circoll/builder.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "circoll/transform.hpp"
#include "circoll/verify.hpp"
#include "messages.hpp"

namespace circoll {
namespace {

#ifdef CIRCOLL_SANITIZED
constexpr Rank largest = 6;
#else
constexpr Rank largest = 13;
#endif

bool from_all(Rank /*peer*/) { return true; }

std::int64_t count_kind(const Schedule& schedule, StepKind kind) {
  return std::ranges::count_if(schedule.steps, [&](const Step& step) { return step.kind == kind; });
}

/// Receives that became a part of a reduction, and all receives, over the ranks.
struct Arrived {
  std::int64_t combined = 0;
  std::int64_t all = 0;
};
Arrived arrived(const std::string& id, Rank p) {
  Arrived sum;
  for (const Schedule& schedule : schedules(id, p)) {
    sum.combined += count_kind(combined_on_arrival(schedule, from_all), StepKind::recv_reduce);
    sum.all += count_kind(schedule, StepKind::recv);
  }
  return sum;
}

/// Proves every reduction for small p, where `on_arrival` says which messages are combined. Returns the number of
/// receives that were combined, by ids.
std::map<std::string, std::int64_t> prove_reductions(const OnArrival& on_arrival) {
  std::map<std::string, std::int64_t> combined;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Collective collective = algorithm->collectives.front();
    if (!is_reducing(collective)) continue;
    for (Rank p = 1; p <= largest; ++p) {
      if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
      Shape shape{.size = p, .root = is_rooted(collective) ? p / 2 : 0};
      if (algorithm->param("segments") != nullptr) shape.params["segments"] = 3;
      for (const bool in_place : {false, true}) {
        shape.in_place = in_place;
        const Verdict before = verify_algorithm(*algorithm, collective, shape);
        const Verdict after = verify_algorithm(*algorithm, collective, shape, on_arrival);
        EXPECT_TRUE(after.proven()) << after.refutation->to_string();
        EXPECT_EQ(before.messages, after.messages);
        EXPECT_EQ(before.reductions, after.reductions);
        EXPECT_EQ(before.counted.received, after.counted.received);
        for (const Schedule& schedule : build_all_ranks(*algorithm, collective, shape)) {
          const auto here = [&](Rank peer) { return on_arrival(schedule.shape.rank, peer); };
          combined[algorithm->id(collective)] += count_kind(combined_on_arrival(schedule, here), StepKind::recv_reduce);
        }
      }
    }
  }
  return combined;
}

TEST(Arrivals, EveryReductionStaysRight) {
  const auto combined = prove_reductions([](Rank, Rank) { return true; });
  // All or most arrivals can be combined where vectors are combined on trees, and where blocks are combined.
  for (const std::string id :
       {"reduce/binomial", "reduce/circulant", "reduce_scatter/circulant", "reduce_scatter/circulant_optimal",
        "allreduce/circulant_optimal", "allreduce/ring", "allreduce/rabenseifner", "scan/linear"}) {
    EXPECT_GT(combined.at(id), 0) << id;
  }
}

TEST(Arrivals, SomeRanksMay) {
  // Nodes of two, of three, and an arbitrary half of all pairs. A rank may combine whatever the others do.
  prove_reductions([](Rank rank, Rank peer) { return rank / 2 == peer / 2; });
  prove_reductions([](Rank rank, Rank peer) { return rank / 3 == peer / 3; });
  prove_reductions([](Rank rank, Rank peer) { return (rank * 7 + peer * 5) % 3 != 0; });
}

TEST(Arrivals, AllOfATree) {
  const Arrived reduce = arrived("reduce/binomial", 8);
  EXPECT_EQ(reduce.all, 7);
  EXPECT_EQ(reduce.combined, 7);
  // Half of the messages of reduce_scatter + allgather carry results.
  const Arrived ring = arrived("allreduce/ring", 5);
  EXPECT_EQ(ring.combined * 2, ring.all);
}

TEST(Arrivals, NobodyNamed) {
  const Schedule schedule = build_schedule("reduce/binomial", {.size = 8});
  EXPECT_EQ(combined_on_arrival(schedule, [](Rank) { return false; }), schedule);
  const Schedule some = combined_on_arrival(schedule, [](Rank peer) { return peer == 2; });
  EXPECT_EQ(count_kind(some, StepKind::recv_reduce), 1);
  EXPECT_EQ(count_kind(some, StepKind::recv), count_kind(schedule, StepKind::recv) - 1);
}

/// A receive into scratch from rank 1 and its reduction, and whatever a test adds around them, at rank 0 of 3.
class Written : public ::testing::Test {
 protected:
  Written() : builder_("reduce/test", Collective::reduce, {.size = 3}) {
    scratch_ = builder_.scratch(1, 0);
    arriving_ = builder_.region(scratch_);
  }
  void receive() { builder_.recv(1, arriving_); }
  void reduce() { builder_.reduce(builder_.output(), builder_.input(), arriving_); }
  std::int64_t combined() {
    builder_.next_round();
    return count_kind(combined_on_arrival(std::move(builder_).finish(), from_all), StepKind::recv_reduce);
  }

  Builder builder_;
  std::int32_t scratch_ = 0;
  Region arriving_;
};

TEST_F(Written, Plainly) {
  receive();
  reduce();
  EXPECT_EQ(combined(), 1);
}
TEST_F(Written, WithAnotherReaderBefore) {
  receive();
  builder_.copy(builder_.region(builder_.scratch(1, 0)), arriving_);
  reduce();
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, WithAnotherReaderAfter) {
  receive();
  reduce();
  builder_.next_round();
  builder_.send(2, arriving_);
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, ThenWrittenAgain) {
  receive();
  reduce();
  builder_.next_round();
  builder_.recv(2, arriving_);
  builder_.reduce(builder_.output(), builder_.output(), arriving_);
  EXPECT_EQ(combined(), 2);
}
TEST_F(Written, ReducedRoundsLater) {
  receive();
  builder_.next_round();
  reduce();
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, BehindAMessageOfItsRound) {
  builder_.recv(2, builder_.output());
  receive();
  builder_.reduce(builder_.output(), builder_.output(), arriving_);
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, BeforeAnotherMessageOfTheSameRank) {
  receive();
  builder_.recv(1, builder_.region(builder_.scratch(1, 0)));
  reduce();
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, IntoTheMessageItself) {
  receive();
  builder_.reduce(arriving_, builder_.input(), arriving_);
  builder_.next_round();
  builder_.send(2, arriving_);
  EXPECT_EQ(combined(), 1);
}
TEST_F(Written, BesideTheMessage) {
  const std::int32_t two = builder_.scratch(2, 0, 0);
  builder_.recv(1, builder_.region(two, 0, 1));
  builder_.reduce(builder_.region(two, 1, 1), builder_.input(), builder_.region(two, 0, 1));
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, WithItself) {
  receive();
  builder_.reduce(builder_.output(), arriving_, arriving_);
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, OfTwoThatArriveTheFirst) {
  const Region other = builder_.region(builder_.scratch(1, 0));
  receive();
  builder_.recv(2, other);
  builder_.reduce(builder_.output(), arriving_, other);
  builder_.next_round();
  const Schedule before = std::move(builder_).finish();
  // The second receive is of the same round, so that the reduction would wait for it.
  EXPECT_EQ(combined_on_arrival(before, from_all), before);
}
TEST_F(Written, WithAnEdgeToAStepBetween) {
  receive();
  builder_.send(2, builder_.input());
  reduce();
  builder_.edge(0, 1);
  EXPECT_EQ(combined(), 0);
}
TEST_F(Written, EdgesFollowTheirSteps) {
  receive();
  reduce();
  builder_.next_round();
  builder_.send(2, builder_.input());
  builder_.edge(0, 2);
  builder_.edge(1, 2);
  builder_.next_round();
  const Schedule after = combined_on_arrival(std::move(builder_).finish(), from_all);
  EXPECT_EQ(after.edges, (std::vector<std::pair<StepIndex, StepIndex>>{{0, 1}, {0, 1}}));
}

/// Two ranks that exchange their results. Each combines the other's result where it sends from.
std::vector<Schedule> exchange() {
  std::vector<Schedule> ranks;
  for (Rank r = 0; r < 2; ++r) {
    Builder b("allreduce/test", Collective::allreduce, {.size = 2, .rank = r});
    const Region arriving = b.region(b.scratch(1, 0));
    b.copy(b.output(), b.input());
    b.sendrecv(1 - r, b.output(), 1 - r, arriving);
    b.reduce(b.output(), b.output(), arriving);
    b.next_round();
    ranks.push_back(std::move(b).finish());
  }
  return ranks;
}

TEST(Arrivals, NotWhileTheResultIsBeingSent) {
  std::vector<Schedule> ranks = exchange();
  const Claims claims{.needs = {.commutative = true}};
  EXPECT_TRUE(verify_schedules(ranks, claims).proven());
  for (const Schedule& schedule : ranks) EXPECT_EQ(combined_on_arrival(schedule, from_all), schedule);
  // If the ranks combined on arrival nevertheless, each would wait until the other has taken its message.
  for (Schedule& s : ranks) {
    Step& reduction = s.steps.back();
    reduction.kind = StepKind::recv_reduce;
    reduction.peer = s.steps[2].peer;
    s.steps.erase(s.steps.begin() + 2);
  }
  const Verdict wrong = verify_schedules(ranks, claims);
  ASSERT_FALSE(wrong.proven());
  EXPECT_EQ(wrong.refutation->claim, Claim::rounds);
  EXPECT_NE(wrong.refutation->what.find("waits for another of its own round"), std::string::npos);
}

TEST(Arrivals, NothingIsLeftWhereTheMessageWas) {
  // Two ranks reduce to rank 0, which then reads the scratch memory of the message.
  std::vector<Schedule> ranks;
  for (Rank r = 0; r < 2; ++r) {
    Builder b("reduce/test", Collective::reduce, {.size = 2, .rank = r});
    if (r == 1) {
      b.send(0, b.input());
    } else {
      const Region arriving = b.region(b.scratch(1, 0));
      b.recv_reduce(1, b.region(b.scratch(1, 0)), b.input(), arriving, false);
      b.reduce(b.output(), b.input(), arriving);
    }
    b.next_round();
    ranks.push_back(std::move(b).finish());
  }
  const Verdict verdict = verify_schedules(ranks, {});
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::defined);
}

TEST(Arrivals, TheMessageSharesNoMemory) {
  Builder b("reduce/test", Collective::reduce, {.size = 2});
  const Region arriving = b.region(b.scratch(1, 0));
  b.recv_reduce(1, b.output(), arriving, arriving, false);
  b.next_round();
  Builder other("reduce/test", Collective::reduce, {.size = 2, .rank = 1});
  other.send(0, other.input());
  other.next_round();
  const std::vector<Schedule> ranks{std::move(b).finish(), std::move(other).finish()};
  const Verdict verdict = verify_schedules(ranks, {});
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::no_race);
}

TEST(Arrivals, ArriveInScratchOnly) {
  Builder b("reduce/test", Collective::reduce, {.size = 2});
  const Region kept = b.region(b.scratch(1, 0));
  b.recv_reduce(1, kept, b.input(), b.output(), false);
  b.next_round();
  EXPECT_THROW(check_structure(std::move(b).finish()), Error);
}

TEST(Arrivals, AreWrittenAndReadBack) {
  for (const std::string id : {"reduce/circulant", "allreduce/circulant_optimal", "reduce_scatter/ring"}) {
    for (Rank r = 0; r < 4; ++r) {
      const Schedule schedule = combined_on_arrival(build_schedule(id, {.size = 4, .rank = r}), from_all);
      EXPECT_EQ(schedule_from_text(to_text(schedule)), normalised(schedule));
      EXPECT_EQ(schedule_from_json(to_json(schedule)), normalised(schedule));
    }
  }
  const Schedule left = combined_on_arrival(build_schedule("scan/linear", {.size = 3, .rank = 1}), from_all);
  EXPECT_EQ(count_kind(left, StepKind::recv_reduce), 1);
  EXPECT_TRUE(left.steps.front().arrives_left);
  EXPECT_EQ(schedule_from_text(to_text(left)), normalised(left));
}

TEST(Arrivals, CanBeEmbedded) {
  const Schedule part = combined_on_arrival(build_schedule("reduce/binomial", {.size = 4}), from_all);
  Builder b("reduce/test", Collective::reduce, {.size = 4});
  b.embed(part, {.send = b.input(), .recv = b.output()});
  const Schedule whole = std::move(b).finish();
  EXPECT_EQ(count_kind(whole, StepKind::recv_reduce), count_kind(part, StepKind::recv_reduce));
}

}  // namespace
}  // namespace circoll
