// Recorded programs are played: small ones whose times can be computed by hand.
#include "whatif/answer.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "circoll/error.hpp"
#include "select/machine.hpp"
#include "whatif/fit.hpp"

namespace circoll::whatif {
namespace {

/// A message of b bytes takes 1 + b / 1000 seconds, and combining is for free.
Machine slow_machine() {
  Machine machine;
  machine.name = "slow";
  machine.alpha_s = 1;
  machine.beta_s_per_byte = 1e-3;
  machine.gamma_s_per_byte = 1e-30;
  machine.f_alpha = machine.f_beta = 1;
  return machine;
}

trace::Trace trace_of(Rank ranks) {
  trace::Trace trace;
  trace.facts = {.ranks = ranks, .program = "program", .mpi = "MPICH 4.0.2", .machine = to_json(slow_machine())};
  for (Rank rank = 0; rank < ranks; ++rank) {
    trace.ranks.emplace_back().facts.rank = rank;
    trace.ranks.back().communicators.emplace_back();
  }
  return trace;
}

/// Lets a rank compute for some seconds and make a call, which took `took_s` when it was recorded.
void add(trace::RankTrace& rank, double compute_s, const trace::Shape& shape, double took_s = 2) {
  rank.shapes.push_back(shape);
  const auto begin_ns = rank.facts.end_ns + static_cast<std::int64_t>(compute_s * 1e9);
  const auto end_ns = begin_ns + static_cast<std::int64_t>(took_s * 1e9);
  rank.calls.push_back(
      {.shape = static_cast<std::uint32_t>(rank.shapes.size() - 1), .begin_ns = begin_ns, .end_ns = end_ns});
  rank.facts.end_ns = end_ns;
}

trace::Shape allreduce(Count bytes = 8) {
  return {.collective = Collective::allreduce,
          .count = bytes / 8,
          .element_bytes = 8,
          .op = {.exact = false},
          .served = "recursive_doubling"};
}

Times played(const trace::Trace& trace, Rank ranks = 0) {
  Player player(slow_machine());
  const Program program = program_of(trace, ranks > 0 ? ranks : trace.facts.ranks);
  return player.play(program, as_served(slow_machine(), trace.facts.mpi));
}

std::string refusal(const trace::Trace& trace, Rank ranks = 0) {
  try {
    (void)played(trace, ranks);
  } catch (const Error& error) {
    return error.what();
  }
  return "it was played";
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

constexpr double exchange_s = 1.008;  // of 8 bytes
constexpr double bytes_s = 0.008;     // without the latency

/// Two ranks, the second of which computes for three seconds more before an allreduce of 8 bytes.
trace::Trace unbalanced() {
  trace::Trace trace = trace_of(2);
  add(trace.ranks[0], 1, allreduce(), 4.5);
  add(trace.ranks[1], 4, allreduce(), 1.5);
  for (trace::RankTrace& rank : trace.ranks) rank.facts.end_ns += 500'000'000;
  return trace;
}

TEST(WhatIf, WaitingIsTheDifferenceOfTwoArrivals) {
  const Times times = played(unbalanced());
  EXPECT_NEAR(times.run_s, 4 + exchange_s + 0.5, 1e-9);
  // The first rank's message lies there when the second comes, and has no latency left.
  expect_near(times.in_collectives_s, {3 + exchange_s, bytes_s});
  expect_near(times.waiting_s, {3, 0});
  EXPECT_NEAR(times.mean_waiting_s(), 1.5, 1e-9);
}

TEST(WhatIf, RecordedTimesAreThoseOfTheTrace) {
  trace::Trace trace = unbalanced();
  // The second program began later, and its clock is too slow.
  trace.ranks[1].facts.begin_ns = 250'000'000;
  trace.ranks[1].facts.clock_rate = 1.001;
  const Times times = program_of(trace, 2).recorded;
  EXPECT_NEAR(times.run_s, 0.25 + 6 * 1.001, 1e-9);
  expect_near(times.in_collectives_s, {4.5, 1.5 * 1.001});
  expect_near(times.waiting_s, {0.25 + 4 * 1.001 - 1, 0});
}

TEST(WhatIf, ABalancedLoadHasTheMeanBeforeEachCollective) {
  Program program = program_of(unbalanced(), 2);
  balance(program);
  const Times times = Player(slow_machine()).play(program, as_served(slow_machine(), "MPICH 4.0.2"));
  EXPECT_NEAR(times.run_s, 2.5 + exchange_s + 0.5, 1e-9);
  expect_near(times.waiting_s, {0, 0});
}

TEST(WhatIf, LengthsOfVectorsFollowFromTheRanksOwnBytes) {
  const auto bytes_of = [](const trace::Trace& trace, Rank ranks) {
    const Program program = program_of(trace, ranks);
    EXPECT_EQ(program.kinds.size(), 1U);
    return program.kinds.front().bytes;
  };
  // Each of three ranks says 24 bytes: a vector, a block, or what it sends.
  for (const auto& [collective, on_three, on_six] :
       std::vector<std::tuple<Collective, Count, Count>>{{Collective::allreduce, 24, 24},
                                                         {Collective::bcast, 24, 24},
                                                         {Collective::barrier, 24, 24},
                                                         {Collective::allgather, 72, 144},
                                                         {Collective::gather, 72, 144},
                                                         {Collective::alltoall, 24, 48},
                                                         {Collective::reduce_scatter_block, 24, 48},
                                                         {Collective::reduce_scatter, 24, 48},
                                                         {Collective::allgatherv, 72, 144},
                                                         {Collective::alltoallv, 24, 48}}) {
    trace::Trace trace = trace_of(3);
    for (trace::RankTrace& rank : trace.ranks)
      add(rank, 1, {.collective = collective, .count = 24, .served = "native"});
    EXPECT_EQ(bytes_of(trace, 3), on_three) << to_string(collective);
    EXPECT_EQ(bytes_of(trace, 6), on_six) << to_string(collective);
  }
  // Blocks that differ count by their sum.
  trace::Trace trace = trace_of(3);
  for (trace::RankTrace& rank : trace.ranks)
    add(rank, 1, {.collective = Collective::gatherv, .count = 10 * rank.facts.rank, .served = "native"});
  EXPECT_EQ(bytes_of(trace, 3), 30);
  EXPECT_EQ(bytes_of(trace, 5), 0 + 10 + 20 + 0 + 10);
}

TEST(WhatIf, ANonblockingCallIsWaitedForBeforeTheNextCallOnItsCommunicator) {
  for (const double compute_s : {1.0, 20.0}) {
    trace::Trace trace = trace_of(2);
    trace::Shape starts = allreduce();
    starts.mode = CallMode::nonblocking;
    for (trace::RankTrace& rank : trace.ranks) {
      add(rank, rank.facts.rank == 0 ? 1 : 5, starts, 0.25);
      add(rank, compute_s, allreduce());
    }
    // It ends at 5.25 + 1.008 and 5.25 + 0.008.
    const double first_s = std::max(5.25 + exchange_s, 1.25 + compute_s);
    const double second_s = std::max(5.25 + bytes_s, 5.25 + compute_s);
    const double first_end_s = std::max(first_s + bytes_s, second_s + exchange_s);
    const double second_end_s = std::max(second_s + bytes_s, first_s + exchange_s);
    const Times times = played(trace);
    EXPECT_NEAR(times.run_s, std::max(first_end_s, second_end_s), 1e-9);
    expect_near(times.in_collectives_s, {first_end_s - first_s, second_end_s - second_s});
  }
}

TEST(WhatIf, AProgramEndsAfterItsNonblockingCalls) {
  trace::Trace trace = trace_of(2);
  trace::Shape starts = allreduce();
  starts.mode = CallMode::nonblocking;
  add(trace.ranks[0], 1, starts, 0);
  add(trace.ranks[1], 7, starts, 0);
  EXPECT_NEAR(played(trace).run_s, 7 + exchange_s, 1e-9);
}

TEST(WhatIf, StartsOfPersistentRequestsBelongTogetherByTheirRequests) {
  trace::Trace trace = trace_of(2);
  trace::Shape first = allreduce();
  first.mode = CallMode::persistent;
  trace::Shape second{
      .collective = Collective::bcast, .mode = CallMode::persistent, .count = 8, .request = 1, .served = "binomial"};
  for (int i = 0; i < 3; ++i) {
    add(trace.ranks[0], 1, first, 0);
    add(trace.ranks[0], 1, second, 0);
    add(trace.ranks[1], 1, second, 0);
    add(trace.ranks[1], 1, first, 0);
  }
  const Program program = program_of(trace, 2);
  EXPECT_EQ(program.operations.size(), 6U);
  EXPECT_EQ(program.calls, 12);
  EXPECT_NEAR(played(trace).run_s, 6 + exchange_s, 1e-9);
}

TEST(WhatIf, CommunicatorsAreFoundByTheirMembersAndOrder) {
  trace::Trace trace = trace_of(4);
  for (trace::RankTrace& rank : trace.ranks) {
    const Rank low = rank.facts.rank / 2 * 2;
    rank.communicators.push_back({.kind = trace::Communicator::Kind::some, .members = {low + 1, low}});
    rank.communicators.push_back({.instance = 1});
    trace::Shape pair = allreduce();
    pair.communicator = 1;
    add(rank, static_cast<double>(1 + low), pair);
  }
  // Pairs do not wait for one another.
  const Times pairs = played(trace);
  EXPECT_NEAR(pairs.run_s, 3 + exchange_s, 1e-9);
  expect_near(pairs.in_collectives_s, {exchange_s, exchange_s, exchange_s, exchange_s});
  // All call on MPI_COMM_WORLD and on its duplicate.
  for (trace::RankTrace& rank : trace.ranks) {
    for (const std::uint32_t communicator : {2U, 0U}) {
      trace::Shape all = allreduce();
      all.communicator = communicator;
      add(rank, communicator == 2 ? 10 - static_cast<double>(rank.facts.rank / 2 * 2) : 0, all);
    }
  }
  const Program program = program_of(trace, 4);
  EXPECT_EQ(program.groups.size(), 4U);
  EXPECT_EQ(program.operations.size(), 4U);
  // Allreduces of four take two exchanges.
  EXPECT_NEAR(played(trace).run_s, 11 + 5 * exchange_s, 1e-9);
  expect_near(played(trace).waiting_s, {0, 0, 0, 0});
}

TEST(WhatIf, RanksLieOnTheRecordedNodes) {
  trace::Trace trace = trace_of(6);
  trace.facts.cores = 2;
  for (trace::RankTrace& rank : trace.ranks) {
    const Rank r = rank.facts.rank;
    rank.communicators = {{},
                          {.kind = trace::Communicator::Kind::some, .members = {r / 2 * 2, r / 2 * 2 + 1}},
                          {.kind = trace::Communicator::Kind::some, .members = {r % 2, r % 2 + 2, r % 2 + 4}},
                          {.kind = trace::Communicator::Kind::some, .members = {5, 3, 1, 4, 2, 0}}};
  }
  const Program program = program_of(trace, 6);
  const auto group = [&](const std::vector<Rank>& members) {
    for (const Group& one : program.groups) {
      if (one.members == members) return std::tuple(one.cores, one.nodes, one.node_by_node);
    }
    return std::tuple(Rank{0}, Rank{0}, false);
  };
  EXPECT_EQ(group({0, 1, 2, 3, 4, 5}), std::tuple(Rank{2}, Rank{3}, true));
  EXPECT_EQ(group({2, 3}), std::tuple(Rank{2}, Rank{1}, true));
  EXPECT_EQ(group({1, 3, 5}), std::tuple(Rank{1}, Rank{3}, true));
  EXPECT_EQ(group({5, 3, 1, 4, 2, 0}), std::tuple(Rank{1}, Rank{3}, false));
}

TEST(WhatIf, MoreRanksRepeatThePattern) {
  const Times times = played(unbalanced(), 4);
  // Ranks 0 and 2 come after a second, the others after four.
  EXPECT_NEAR(times.run_s, 4 + 2 * exchange_s + 0.5, 1e-9);
  expect_near(times.waiting_s, {3, 0, 3, 0});
  EXPECT_TRUE(program_of(unbalanced(), 4).recorded.in_collectives_s.empty());
}

TEST(WhatIf, RefusesToGrowWhereThatHasNoMeaning) {
  EXPECT_NE(refusal(unbalanced(), 1).find("recorded on 2 ranks, and can be played on as many or more"),
            std::string::npos);
  trace::Trace trace = trace_of(4);
  for (trace::RankTrace& rank : trace.ranks)
    rank.communicators.push_back({.kind = trace::Communicator::Kind::some, .members = {rank.facts.rank}});
  EXPECT_EQ(refusal(trace, 6), "it was played");  // MPI_COMM_SELF
  for (trace::RankTrace& rank : trace.ranks) rank.communicators.back().members = {0, 1, 2, 3};
  for (trace::RankTrace& rank : trace.ranks) rank.communicators.back().members = {3, 2, 1, 0};
  EXPECT_EQ(refusal(trace), "it was played");
  EXPECT_NE(refusal(trace, 6).find("only programs on MPI_COMM_WORLD can grow"), std::string::npos);
}

TEST(WhatIf, RefusesWhatCannotBePlayed) {
  trace::Trace trace = unbalanced();
  trace.ranks[1].facts.dropped = 7;
  EXPECT_NE(refusal(trace).find("lacks 7 calls of rank 1"), std::string::npos);

  trace = unbalanced();
  add(trace.ranks[0], 1, allreduce());
  EXPECT_NE(refusal(trace).find("1 of 2 ranks made a call of allreduce"), std::string::npos);

  trace = unbalanced();
  trace.ranks[1].shapes.back().collective = Collective::bcast;
  EXPECT_NE(refusal(trace).find("rank 1 calls bcast where another rank of its communicator calls allreduce"),
            std::string::npos);

  trace = trace_of(2);
  for (trace::RankTrace& rank : trace.ranks) rank.communicators.push_back({.instance = 1});
  for (const std::uint32_t communicator : {0U, 1U}) {
    trace::Shape one = allreduce();
    one.communicator = communicator;
    add(trace.ranks[0], 1, one);
    one.communicator = 1 - communicator;
    add(trace.ranks[1], 1, one);
  }
  EXPECT_NE(refusal(trace).find("wait for one another forever"), std::string::npos);

  trace = unbalanced();
  for (trace::RankTrace& rank : trace.ranks) rank.shapes.back().count = Count{1} << 57U;
  EXPECT_NE(refusal(trace).find("beyond what can be counted"), std::string::npos);
}

TEST(WhatIf, CallsAmongNeighboursAreTimeBetweenCalls) {
  trace::Trace trace = trace_of(2);
  for (trace::RankTrace& rank : trace.ranks) {
    rank.communicators.push_back({.kind = trace::Communicator::Kind::foreign});
    add(rank, 1, {.collective = NeighborFunction::alltoall, .served = "direct"}, 3);
    add(rank, 1, {.collective = Collective::bcast, .communicator = 1, .served = "native"}, 2);
    add(rank, 1, allreduce());
  }
  const Program program = program_of(trace, 2);
  EXPECT_EQ(program.neighbors, 2);
  EXPECT_EQ(program.foreign, 2);
  EXPECT_NEAR(played(trace).run_s, 8 + exchange_s, 1e-9);
}

TEST(WhatIf, NativeCallsAreThoseOfTheLibrary) {
  trace::Trace trace = trace_of(4);
  trace::Shape native = allreduce(1024);
  native.served = "native";
  for (trace::RankTrace& rank : trace.ranks) add(rank, 0, native);
  const Program program = program_of(trace, 4);
  Player player(slow_machine());
  const auto run_s = [&](const Choose& choose) { return player.play(program, choose).run_s; };
  const auto by = [&](const char* algorithm) {
    return run_s(
        by_algorithm(parse_selection(Collective::allreduce, algorithm), slow_machine(), as_served(slow_machine(), "")));
  };
  // Open MPI's tree takes recursive doubling here, and MPICH a binomial tree up and down.
  EXPECT_DOUBLE_EQ(run_s(as_served(slow_machine(), "Open MPI v4.1.4")), by("recursive_doubling"));
  EXPECT_DOUBLE_EQ(run_s(as_served(slow_machine(), "MPICH 4.0.2")), by("binomial"));
  EXPECT_NEAR(by("recursive_doubling"), 2 * 2.024, 1e-9);
  EXPECT_NEAR(by("binomial"), 4 * 2.024, 1e-9);
  EXPECT_DOUBLE_EQ(run_s(by_policy("native", slow_machine(), "Open MPI v4.1.4")), by("recursive_doubling"));
}

TEST(WhatIf, UnknownAlgorithmsAreCounted) {
  trace::Trace trace = unbalanced();
  for (trace::RankTrace& rank : trace.ranks) rank.shapes.back().served = "of_another_version";
  std::int64_t unknown = 0;
  const Program program = program_of(trace, 2);
  (void)Player(slow_machine()).play(program, as_served(slow_machine(), "", &unknown));
  EXPECT_EQ(unknown, 1);
}

TEST(WhatIf, AnAlgorithmServesWhereItsNeedsHold) {
  trace::Trace trace = trace_of(3);
  for (trace::RankTrace& rank : trace.ranks) add(rank, 0, allreduce(8));
  const Program program = program_of(trace, 3);
  Player player(slow_machine());
  const Choose served = as_served(slow_machine(), "");
  // The other collective stays as it was served.
  const Choose other = by_algorithm(parse_selection("bcast/binomial"), slow_machine(), served);
  EXPECT_DOUBLE_EQ(player.play(program, other).run_s, player.play(program, served).run_s);
}

TEST(WhatIf, FindsTheFastestAlgorithm) {
  trace::Trace trace = trace_of(8);
  trace::Shape shape = allreduce(80'000);
  shape.served = "binomial";
  for (trace::RankTrace& rank : trace.ranks) add(rank, 0, shape);
  const Program program = program_of(trace, 8);
  Player player(slow_machine());
  const Choose served = as_served(slow_machine(), "");
  const auto best = best_algorithm(player, program, Collective::allreduce, served, slow_machine());
  ASSERT_TRUE(best);
  const double best_s = player.play(program, by_algorithm(*best, slow_machine(), served)).run_s;
  for (const char* const name : {"binomial", "ring", "recursive_doubling", "rabenseifner"}) {
    const Choose choose = by_algorithm(parse_selection(Collective::allreduce, name), slow_machine(), served);
    EXPECT_LE(best_s, player.play(program, choose).run_s) << name;
  }
  // Nothing is faster than the fastest.
  for (trace::RankTrace& rank : trace.ranks) rank.shapes.back().served = best->text();
  EXPECT_FALSE(best_algorithm(player, program_of(trace, 8), Collective::allreduce, served, slow_machine()));
}

/// The factors for two ranks that come together to allreduces of some bytes, which take some seconds each.
FittedMachine fit_of(const std::vector<std::pair<Count, double>>& calls) {
  trace::Trace trace = trace_of(2);
  for (trace::RankTrace& rank : trace.ranks) {
    for (const auto& [bytes, took_s] : calls) add(rank, 1, allreduce(bytes), took_s);
  }
  return fitted(program_of(trace, 2), slow_machine(), as_served(slow_machine(), ""));
}

TEST(WhatIf, PricesAreFittedToTheRecordedTimes) {
  // Calls take two seconds more, and bytes half of their time.
  const FittedMachine both = fit_of({{8, 3.004}, {8000, 7}, {80'000, 43}});
  EXPECT_NEAR(both.call_s, 2, 1e-6);
  EXPECT_NEAR(both.bytes, 0.5, 1e-6);
  EXPECT_EQ(both.latency, 1);
  EXPECT_NEAR(both.machine.beta_s_per_byte, 0.5e-3, 1e-9);
  // Rounds that are too dear.
  const FittedMachine less = fit_of({{8, 0.116}, {8000, 16.1}});
  EXPECT_EQ(less.call_s, 0);
  EXPECT_NEAR(less.latency, 0.1, 1e-6);
  EXPECT_NEAR(less.bytes, 2, 1e-6);
  // Calls of one kind tell one number only.
  const FittedMachine latency = fit_of({{8, 2}, {8, 2}});
  EXPECT_NEAR(latency.call_s, 2 - exchange_s, 1e-6);
  EXPECT_EQ(latency.bytes, 1);
  const FittedMachine bytes = fit_of({{80'000, 161}});
  EXPECT_EQ(bytes.call_s, 0);
  EXPECT_NEAR(bytes.bytes, 2, 1e-6);
  EXPECT_EQ(fit_of({{80'000, 1e6}}).bytes, 32);
  const FittedMachine common = fit_of({{8, exchange_s / 2}});
  EXPECT_NEAR(common.latency, 0.5, 1e-6);
  EXPECT_NEAR(common.bytes, 0.5, 1e-6);
  // Nothing was recorded of a rank that is alone.
  const FittedMachine none = fitted(program_of(trace_of(1), 1), slow_machine(), as_served(slow_machine(), ""));
  EXPECT_FALSE(none.changes());
}

TEST(WhatIf, AFittedMachinePlaysTheRecordedTimes) {
  trace::Trace trace = trace_of(2);
  for (trace::RankTrace& rank : trace.ranks) {
    add(rank, 1, allreduce(8), 3.004);
    add(rank, 1, allreduce(8000), 7);
  }
  const Answer fits = answer(trace, {.policies = {}});
  EXPECT_NEAR(fits.today.times.run_s, fits.recorded.times.run_s, 1e-6);
  EXPECT_EQ(fits.notes.front(),
            "prices of machine 'slow' fitted to the recorded times: 2 s more for each call, bytes times 0.50");
  EXPECT_EQ(fits.notes.at(1),
            "calibration: collectives without waiting take 1.00 of the recorded time in the simulator");
  // Another machine is taken as it is.
  const Answer other = answer(trace, {.machine = slow_machine(), .policies = {}});
  EXPECT_NEAR(other.asked->times.run_s, 2 + exchange_s + 9, 1e-6);
}

TEST(WhatIf, TheVerdictNamesTheChangeThatPaysMost) {
  Question question{.policies = {"auto"}, .fit = false};
  const Answer balanced = answer(unbalanced(), question);
  EXPECT_EQ(balanced.verdict, "'load balanced' pays most: the run takes 27.2 % less time, 4.008 s in place of 5.508 s");
  EXPECT_FALSE(balanced.asked);
  ASSERT_FALSE(balanced.notes.empty());
  // Without waiting 1.5 seconds on each rank were recorded, and 1.008 and 0.008 are played.
  EXPECT_EQ(balanced.notes.front(),
            "calibration: collectives without waiting take 0.34 of the recorded time in the simulator; do not rely "
            "on the changes");

  question.balanced = true;
  const Answer asked = answer(unbalanced(), question);
  ASSERT_TRUE(asked.asked);
  EXPECT_EQ(asked.asked->what, "load balanced");
  EXPECT_EQ(asked.verdict,
            "load balanced: the run takes 27.2 % less time. No change pays: none shortens the run by 1 %; 25.1 % of it "
            "is in collectives");

  Machine fast = slow_machine();
  fast.name = "fast";
  fast.alpha_s = 0.1;
  const Answer faster = answer(unbalanced(), {.machine = fast, .ranks = 4, .policies = {}, .fit = false});
  ASSERT_TRUE(faster.asked);
  EXPECT_EQ(faster.asked->what, "on fast, 4 ranks");
  EXPECT_NEAR(faster.asked->times.run_s, 4 + 2 * 0.108 + 0.5, 1e-9);
  EXPECT_NEAR(faster.today.times.run_s, 4 + exchange_s + 0.5, 1e-9);
}

}  // namespace
}  // namespace circoll::whatif
