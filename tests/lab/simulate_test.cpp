// The simulator against closed forms, against a plain version of itself, and against published values.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "model/sharing.hpp"
#include "naive_simulation.hpp"
#include "sim/sim.hpp"

namespace circoll {
namespace {

using sim::Circumstances;
using sim::Network;
using sim::Ranks;

/// A machine whose numbers have no two equal sums by accident.
const Machine machine{.name = "test",
                      .alpha_s = 1.7e-6,
                      .beta_s_per_byte = 0.31e-9,
                      .gamma_s_per_byte = 0.043e-9,
                      .f_alpha = 1,
                      .f_beta = 1};

double simulated(const Selection& selection, Rank p, Count bytes, Rank root = 0) {
  return simulate(Ranks(selection, p, root), static_cast<double>(bytes), sim::network_of(machine)).time_s;
}

#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 24;
#else
constexpr Rank last_size = 64;
#endif

double on_shared_ports(const Selection& selection, Rank p, Count bytes, const Machine& on) {
  Network network = sim::network_of(on);
  network.shared = true;
  return simulate(Ranks(selection, p), static_cast<double>(bytes), network).time_s;
}

TEST(Simulate, SharedPortsAreTheClosedFormOfTrees) {
  Machine bytes_only = machine;
  bytes_only.alpha_s = 0;
  for (const char* id : {"scatter/binomial", "scatter/circulant", "scatter/linear"}) {
    for (const char* window : {"", ":window=1"}) {
      const Selection selection = parse_selection(std::string(id) + window);
      for (const Rank p : {2, 4, 8, 16, 64}) {
        const double form = seconds(terms_between_hosts(selection, p, 1 << 20), bytes_only);
        EXPECT_NEAR(on_shared_ports(selection, p, 1 << 20, bytes_only), form, 1e-9 * form) << selection.text() << p;
      }
    }
  }
}

TEST(Simulate, SharedPortsChangeNothingWhereMessagesHaveAnOrder) {
  for (const char* id : {"allgather/ring", "allgather/circulant", "allreduce/recursive_doubling", "barrier/circulant",
                         "bcast/pipeline:segments=8"}) {
    const Selection selection = parse_selection(id);
    for (const Rank p : {2, 8, 16}) {
      const double in_turn = simulated(selection, p, 1 << 20);
      EXPECT_NEAR(on_shared_ports(selection, p, 1 << 20, machine), in_turn, 1e-9 * in_turn) << id << " p = " << p;
    }
  }
}

void expect_overheads(double both_s) {
  const Machine on{.alpha_s = 10,
                   .beta_s_per_byte = 0,
                   .gamma_s_per_byte = 0,
                   .f_alpha = 1,
                   .overhead_s = 2,
                   .overhead_both_s = both_s};
  for (const char* id : {"scatter/linear", "gather/linear", "bcast/linear", "allgather/ring", "allreduce/ring"}) {
    const Selection selection = parse_selection(id);
    for (const Rank p : {2, 3, 8, 16}) {
      const double form = seconds(terms_of(selection, p, 8), on);
      EXPECT_NEAR(simulate(Ranks(selection, p), 8, sim::network_of(on)).time_s, form, 1e-9 * form)
          << id << " p = " << p;
      // Shared ports have no gap between messages that come.
      if (selection.collective == Collective::gather) continue;
      EXPECT_NEAR(on_shared_ports(selection, p, 8, on), form, 1e-9 * form) << id << " p = " << p;
    }
  }
}

TEST(Simulate, MessagesThatNeedNotWaitTakeAnOverhead) {
  expect_overheads(3);
  expect_overheads(10);
}

TEST(Simulate, SharedPortsRefuseOtherPrices) {
  const Ranks ranks(parse_selection("bcast/binomial"), 4);
  Network network = sim::network_of(machine);
  network.shared = true;
  EXPECT_THROW((void)simulate(ranks, 8, network, {}, {.record = true}), Error);
  EXPECT_THROW((void)simulate(ranks, 8, network, {.noise = sim::parse_spread("uniform:1us")}), Error);
  network.ports = 2;
  EXPECT_THROW((void)simulate(ranks, 8, network), Error);
}

TEST(Simulate, IsTheClosedFormWhereRanksGoTogether) {
  // The cost model adds up the slowest of every round, as if all waited for it. A simulated rank waits for its own
  // messages only, and so may be earlier. It may be later, too: at a port a message of a later round may come first.
  std::map<std::string, std::pair<int, int>> met;  // of so many
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (Rank p = 2; p <= last_size; ++p) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      const Rank root = is_rooted(selection.collective) ? p / 3 : 0;
      for (const Count bytes : {Count{8}, Count{1} << 20}) {
        const double form = seconds(terms_of(selection, p, bytes, root), machine);
        const double time = simulated(selection, p, bytes, root);
        EXPECT_LE(time, 2 * form) << selection.id() << " p = " << p << ", " << bytes;
        auto& [equal, all] = met[selection.id()];
        equal += std::abs(time - form) <= 1e-12 * form ? 1 : 0;
        ++all;
      }
    }
  }
  // For these both times are equal for every p and size.
  for (const char* id : {"allgather/bruck",
                         "allgather/circulant",
                         "allgather/circulant_optimal",
                         "allgather/neighbor_exchange",
                         "allgather/ring",
                         "allreduce/circulant",
                         "allreduce/direct",
                         "allreduce/ring",
                         "alltoall/bruck",
                         "alltoall/circulant",
                         "alltoall/pairwise",
                         "barrier/circulant",
                         "barrier/tree",
                         "bcast/binomial",
                         "bcast/circulant_pipelined",
                         "bcast/pipeline",
                         "gather/binomial",
                         "gather/circulant",
                         "reduce/pipeline",
                         "reduce_scatter/ring",
                         "scan/linear",
                         "scatter/circulant",
                         "bcast/scatter_allgather",
                         "exscan/pipeline"}) {
    ASSERT_TRUE(met.contains(id)) << id;
    EXPECT_EQ(met[id].first, met[id].second) << id;
  }
}

/// Expects the same times of every rank from the simulator and from the plain version.
void expect_as_written_plainly(const Selection& selection, Rank p, const Network& network,
                               const Circumstances& circumstances) {
  const Shape shape{.size = p, .root = is_rooted(selection.collective) ? p - 1 : 0, .params = selection.params};
  const std::vector<Schedule> schedules = build_all_ranks(*selection.algorithm, selection.collective, shape);
  const double bytes = 10000;
  const double vector_blocks = static_cast<double>(schedules[0].blocks() / (is_exchange(selection.collective) ? p : 1));
  const bool moves = traits_of(selection.collective).moves_data;
  const std::vector<double> plain =
      NaiveSimulation(schedules, moves ? bytes / vector_blocks : 0, network, circumstances).run();
  for (const bool record : {false, true}) {
    const sim::SimulatedRun outcome =
        simulate(Ranks(selection, p, shape.root), bytes, network, circumstances, {.record = record});
    for (std::size_t r = 0; r < plain.size(); ++r) {
      ASSERT_NEAR(outcome.end_s[r], plain[r], 1e-12 * outcome.time_s)
          << selection.id() << " p = " << p << ", rank " << r << ", record " << record;
    }
  }
}

TEST(Simulate, IsTheModelWrittenPlainly) {
  const Network loggops{.between = {.latency_s = 1.1e-6,
                                    .overhead_s = 0.23e-6,
                                    .gap_s = 0.41e-6,
                                    .gap_s_per_byte = 0.37e-9,
                                    .overhead_s_per_byte = 0.05e-9},
                        .gamma_s_per_byte = 0.19e-9};
  Network groups = loggops;
  groups.group_nodes = 3;
  groups.group = {.latency_s = 0.3e-6, .overhead_s = 0.11e-6, .gap_s = 0.2e-6, .gap_s_per_byte = 0.29e-9};
  Network exchanging = sim::network_of(machine);
  sim::set_exchange(exchanging.between, "2.3:1500");  // of 10000 bytes
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (const Rank p : {2, 5, 8, 13}) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      // With skew and noise no two events have the same time, where the model leaves their order open.
      const Circumstances rough{.skew = {sim::Spread::Kind::exponential, 3e-6},
                                .noise = {sim::Spread::Kind::uniform, 1e-6},
                                .seed = static_cast<std::uint64_t>(p)};
      expect_as_written_plainly(selection, p, loggops, rough);
      expect_as_written_plainly(selection, p, sim::network_of(machine), rough);
      expect_as_written_plainly(selection, p, groups, rough);
      expect_as_written_plainly(selection, p, exchanging, rough);
    }
  }
}

TEST(Simulate, ChecksAgainstLogGopsim) {
  // Recursive doubling of 16 ranks and 64 KiB with L = 1000, G = 1 and o = g = 0. In LogGP a round takes L + (s - 1) G.
  // Where the first byte is priced as well, it takes L + s G, which is the published value.
  const Selection doubling = parse_selection("allreduce/recursive_doubling");
  Network network{.between = {.latency_s = 1000, .gap_s_per_byte = 1}};
  EXPECT_EQ(simulate(Ranks(doubling, 16), 65536, network).time_s, 4 * (1000 + 65535));
  network.between.first_byte_free = false;
  EXPECT_EQ(simulate(Ranks(doubling, 16), 65536, network).time_s, 266144);
}

TEST(Simulate, PricesOneMessageAsLogGopsDoes) {
  const Selection bcast = parse_selection("bcast/linear");
  const auto time = [&](const sim::LogGops& price, double bytes) {
    return simulate(Ranks(bcast, 2), bytes, {.between = price}).time_s;
  };
  EXPECT_EQ(time({.latency_s = 100, .overhead_s = 7, .gap_s = 1000, .gap_s_per_byte = 2}, 11), 7 + 100 + 10 * 2 + 7);
  // The processor works on bytes while they come in, so that the slower of both counts.
  EXPECT_EQ(time({.latency_s = 100, .overhead_s = 7, .gap_s_per_byte = 2, .overhead_s_per_byte = 1}, 11),
            7 + 100 + 10 * 2 + 7);
  EXPECT_EQ(time({.latency_s = 100, .overhead_s = 7, .gap_s_per_byte = 2, .overhead_s_per_byte = 3}, 11),
            7 + 100 + 10 * 3 + 7);
  // A rendezvous first asks the receiver and waits for its answer.
  const sim::LogGops rendezvous{.latency_s = 100, .gap_s_per_byte = 2, .rendezvous_from_bytes = 8};
  EXPECT_EQ(time(rendezvous, 11), 3 * 100 + 20);
  EXPECT_EQ(time(rendezvous, 7), 100 + 12);
}

TEST(Simulate, ARendezvousWaitsForItsReceiver) {
  const sim::LogGops price{.latency_s = 100, .gap_s_per_byte = 2, .rendezvous_from_bytes = 8, .first_byte_free = false};
  const Ranks ranks(parse_selection("bcast/linear"), 2);
  Circumstances late{.arrivals_s = {0, 1000}};
  const sim::SimulatedRun outcome = simulate(ranks, 10, {.between = price}, late);
  EXPECT_EQ(outcome.begin_s, late.arrivals_s);
  EXPECT_EQ(outcome.end_s[0], 1000 + 100 + 20);  // when it has the answer and all bytes have left
  EXPECT_EQ(outcome.end_s[1], 1000 + 100 + 100 + 20);
}

TEST(Simulate, EagerMessagesDoNotWaitForTheirReceivers) {
  const sim::LogGops price{.latency_s = 100, .gap_s_per_byte = 2, .first_byte_free = false};
  const sim::SimulatedRun outcome =
      simulate(Ranks(parse_selection("bcast/linear"), 2), 10, {.between = price}, {.arrivals_s = {0, 1000}});
  EXPECT_EQ(outcome.end_s[0], 20);
  EXPECT_EQ(outcome.end_s[1], 1000);
}

TEST(Simulate, LongMessagesThatAreExchangedMayTakeLonger) {
  Network network{.between = sim::alpha_beta(10, 1)};
  sim::set_exchange(network.between, "2:100");
  const auto time = [&](const char* id, Rank p, double bytes) {
    return simulate(Ranks(parse_selection(id), p), bytes, network).time_s;
  };
  EXPECT_EQ(time("allreduce/recursive_doubling", 4, 99), 2 * (10 + 99));
  EXPECT_EQ(time("allreduce/recursive_doubling", 4, 100), 2 * (10 + 200));
  EXPECT_EQ(time("bcast/binomial", 4, 100), 2 * (10 + 100));  // one way
  // A receiver that sends at the same time delays the message as much as a sender that receives.
  EXPECT_EQ(time("allgather/ring", 3, 300), 2 * (10 + 200));
  // The head of a pipeline of two segments, three ranks: the rank in the middle does both in one round.
  EXPECT_EQ(time("bcast/pipeline:segments=2", 3, 200), (10 + 100) + (10 + 200) + (10 + 100));
  EXPECT_THROW(sim::set_exchange(network.between, "2"), Error);
  EXPECT_THROW(sim::set_exchange(network.between, "0:64Ki"), Error);
  EXPECT_THROW(sim::set_exchange(network.between, "2:many"), Error);
  EXPECT_THROW(sim::set_exchange(network.between, "2x:64Ki"), Error);
}

TEST(Simulate, RanksOfANodeShareItsPorts) {
  // Four ranks on two nodes; in a pairwise exchange with distance 2 two messages leave each node.
  const Selection doubling = parse_selection("allreduce/recursive_doubling");
  Network network{.between = sim::alpha_beta(10, 1), .inside = sim::alpha_beta(3, 0.5), .cores = 2};
  const Ranks ranks(doubling, 4);
  EXPECT_EQ(simulate(ranks, 100, network).time_s, (3 + 50) + 2 * (10 + 100));
  network.ports = 2;
  EXPECT_EQ(simulate(ranks, 100, network).time_s, (3 + 50) + (10 + 100));
  // Where nodes have one rank each, ports are the ranks' own, so that a linear broadcast sends two messages at a time.
  const Ranks linear(parse_selection("bcast/linear"), 7);
  EXPECT_EQ(simulate(linear, 100, {.between = sim::alpha_beta(10, 1)}).time_s, 6 * 110);
  EXPECT_EQ(simulate(linear, 100, {.between = sim::alpha_beta(10, 1), .ports = 2}).time_s, 3 * 110);
}

TEST(Simulate, MessagesFromAGroupComeBeforeThoseThatLeftEarlierFurtherAway) {
  // Rank 2 is in another group: its message leaves first and comes last.
  const Network network{.between = {.latency_s = 10, .gap_s_per_byte = 0.001, .first_byte_free = false},
                        .group = sim::LogGops{.latency_s = 1, .gap_s_per_byte = 0.001, .first_byte_free = false},
                        .group_nodes = 2};
  const Circumstances late{.arrivals_s = {0, 2, 0}};
  const Ranks ranks(parse_selection("gather/linear"), 3);
  EXPECT_DOUBLE_EQ(simulate(ranks, 3000, network, late).time_s, 11);
  // Two ranks of a group, on two nodes of two.
  Network nodes = network;
  nodes.cores = 2;
  nodes.inside = sim::LogGops{.latency_s = 0.1, .gap_s_per_byte = 0.001, .first_byte_free = false};
  const Ranks five(parse_selection("gather/linear"), 5);
  const sim::SimulatedRun outcome = simulate(five, 5000, nodes, {}, {.record = true});
  EXPECT_DOUBLE_EQ(outcome.end_s[0], 11);  // 1.1 from its own node; 2, 3 from the group; 11 from the other group
}

TEST(Simulate, SeedsDecideAndNothingElse) {
  const Ranks ranks(parse_selection("allreduce/circulant_optimal"), 100);
  const Ranks threads(parse_selection("allreduce/circulant_optimal"), 100, 0, 3);
  Circumstances rough{.skew = {sim::Spread::Kind::normal, 5e-6}, .noise = {sim::Spread::Kind::exponential, 1e-6}};
  std::set<double> times;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    rough.seed = seed;
    const sim::SimulatedRun outcome = simulate(ranks, 1 << 16, sim::network_of(machine), rough);
    EXPECT_EQ(outcome.end_s, simulate(ranks, 1 << 16, sim::network_of(machine), rough).end_s);
    EXPECT_EQ(outcome.end_s, simulate(threads, 1 << 16, sim::network_of(machine), rough).end_s);
    EXPECT_EQ(outcome.time_s, simulate(ranks, 1 << 16, sim::network_of(machine), rough, {.record = true}).time_s);
    EXPECT_GE(outcome.time_s, outcome.last_arrival_s);
    times.insert(outcome.time_s);
  }
  EXPECT_EQ(times.size(), 20U);
}

TEST(Simulate, DrawsHaveTheirMeans) {
  const auto mean = [](const sim::Spread& spread) {
    double sum = 0;
    for (std::uint64_t i = 0; i < 100000; ++i) {
      const double x = sim::draw(spread, 7, i, 3);
      EXPECT_GE(x, 0);
      sum += x;
    }
    return sum / 100000;
  };
  EXPECT_NEAR(mean({sim::Spread::Kind::uniform, 2}), 1, 0.02);
  EXPECT_NEAR(mean({sim::Spread::Kind::exponential, 2}), 2, 0.04);
  EXPECT_NEAR(mean({sim::Spread::Kind::normal, 2}), 2 * std::sqrt(2 / 3.14159265), 0.03);
  EXPECT_EQ(mean({}), 0);
}

TEST(Simulate, TheCriticalPathLeadsFromTheBeginningToTheEnd) {
  for (const char* id : {"allreduce/circulant", "bcast/binomial", "reduce/linear", "allreduce/rabenseifner",
                         "gather/binomial", "scan/recursive_doubling", "bcast/pipeline:segments=7"}) {
    const Ranks ranks(parse_selection(id), 12);
    for (const sim::Spread& noise : {sim::Spread{}, sim::Spread{sim::Spread::Kind::exponential, 1e-6}}) {
      const sim::SimulatedRun outcome =
          simulate(ranks, 4096, sim::network_of(machine), {.noise = noise}, {.record = true});
      const std::vector<sim::PathStep> path = critical_path(outcome);
      ASSERT_FALSE(path.empty()) << id;
      EXPECT_EQ(path.front().played.begin_s, 0) << id;
      EXPECT_EQ(path.back().played.end_s, outcome.time_s) << id;
      EXPECT_EQ(path.back().rank, outcome.last_rank) << id;
      for (std::size_t i = 1; i < path.size(); ++i) {
        EXPECT_EQ(path[i].played.cause_rank, path[i - 1].rank) << id;
        EXPECT_LE(path[i - 1].played.begin_s, path[i].played.end_s) << id;
        // The processor, or the port, may have finished with a send before the send ends.
        const bool whole = path[i].played.wait == sim::Wait::step || path[i].played.wait == sim::Wait::message;
        if (whole) {
          EXPECT_LE(path[i - 1].played.end_s, path[i].played.end_s * (1 + 1e-12)) << id;
        }
        EXPECT_FALSE(describe(ranks, path[i].rank, path[i].step, 4096).empty());
      }
      const std::vector<double> idle = idle_times(ranks, outcome);
      for (std::size_t r = 0; r < idle.size(); ++r) {
        EXPECT_GE(idle[r], outcome.time_s - outcome.end_s[r] - 1e-15) << id;
        EXPECT_LE(idle[r], outcome.time_s) << id;
      }
    }
  }
}

/// Moves the arrival of one rank after the other by a little, and checks that the time follows as the slack says. If
/// `whole`, the arrivals are also moved by all of the slack, after which the time follows every delay.
void expect_slack(const Selection& selection, Rank p, const Network& network, bool whole) {
  const Ranks ranks(selection, p);
  Circumstances rough{.skew = {sim::Spread::Kind::exponential, 3e-6},
                      .noise = {whole ? sim::Spread::Kind::none : sim::Spread::Kind::uniform, 1e-6},
                      .seed = static_cast<std::uint64_t>(p)};
  const sim::SimulatedRun told = simulate(ranks, 4096, network, rough, {.record = true});
  const double little = 1e-6 * told.time_s;
  const double error = 1e-12 * told.time_s;
  rough.skew = {};
  rough.arrivals_s = told.begin_s;
  for (std::size_t r = 0; r < told.begin_s.size(); ++r) {
    const auto later_by = [&](double delay) {
      rough.arrivals_s[r] = told.begin_s[r] + delay;
      return simulate(ranks, 4096, network, rough).time_s - told.time_s;
    };
    const double slack = told.arrival_slack_s[r];
    const std::string what = selection.id() + " p = " + std::to_string(p) + ", rank " + std::to_string(r);
    EXPECT_NEAR(later_by(little), std::max(0.0, little - slack), error) << what;
    if (whole) {
      EXPECT_NEAR(later_by(slack), 0, error) << what;
      EXPECT_NEAR(later_by(slack + little), little, error) << what;
    }
    rough.arrivals_s[r] = told.begin_s[r];
  }
}

TEST(Simulate, ARankMayBeLateByItsSlack) {
  const sim::LogGops eager{.latency_s = 1.1e-6,
                           .overhead_s = 0.23e-6,
                           .gap_s = 0.41e-6,
                           .gap_s_per_byte = 0.37e-9,
                           .overhead_s_per_byte = 0.05e-9};
  sim::LogGops rendezvous = eager;
  rendezvous.rendezvous_from_bytes = 300;
  const Network only_latency{.between = {.latency_s = 1.1e-6}, .gamma_s_per_byte = 0.19e-9};
  const Network networks[] = {sim::network_of(machine),
                              {.between = eager, .gamma_s_per_byte = 0.19e-9},
                              {.between = rendezvous, .gamma_s_per_byte = 0.19e-9},
                              {.between = eager, .inside = rendezvous, .cores = 3, .ports = 2},
                              {.between = eager, .group = rendezvous, .cores = 2, .group_nodes = 2}};
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (const Rank p : {2, 5, 8, 13}) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      // A large delay may change which of several messages gets a port or a processor first.
      for (const Network& network : networks) expect_slack(selection, p, network, false);
      expect_slack(selection, p, only_latency, false);
    }
  }
  // Here each port has one peer, and processors have nothing to do.
  for (const char* id : {"bcast/pipeline:segments=7", "bcast/chain:fanout=1,segments=5"})
    expect_slack(parse_selection(id), 9, sim::network_of(machine), true);
}

TEST(Simulate, GenerationStopsWhereItIsTold) {
  const Selection selection = parse_selection("allreduce/rabenseifner");
  for (const int threads : {1, 3}) {
    int asked = 0;
    const auto ten_times = [&](Rank generated) {
      EXPECT_GT(generated, asked);
      return ++asked < 10;
    };
    EXPECT_THROW(Ranks(selection, 300, 0, threads, ten_times), sim::Stopped);
    EXPECT_EQ(asked, 10);
    EXPECT_EQ(Ranks(selection, 300, 0, threads, [](Rank) { return true; }).size(), 300);
  }
}

TEST(Simulate, ASlowRankSlowsItsNeighbours) {
  const Ranks ranks(parse_selection("allreduce/ring"), 16);
  const double usual = simulate(ranks, 1 << 20, sim::network_of(machine)).time_s;
  const double slowed = simulate(ranks, 1 << 20, sim::network_of(machine), {.slow = {{5, 10}}}).time_s;
  EXPECT_GT(slowed, 5 * usual);
  EXPECT_LT(slowed, 10.001 * usual);
}

TEST(Simulate, OneProgramForRanksThatDoTheSame) {
  EXPECT_EQ(Ranks(parse_selection("allreduce/circulant"), 1000).programs(), 1);
  EXPECT_EQ(Ranks(parse_selection("allgather/ring"), 100).programs(), 1);
  EXPECT_EQ(Ranks(parse_selection("allreduce/recursive_doubling"), 64).programs(), 1);
  EXPECT_GT(Ranks(parse_selection("bcast/binomial"), 64).programs(), 1);
}

TEST(Simulate, RefusesNonsense) {
  const Selection selection = parse_selection("bcast/binomial");
  EXPECT_THROW(Ranks(selection, 0), Error);
  EXPECT_THROW(Ranks(Selection{}, 2), Error);
  EXPECT_THROW(Ranks(selection, 4, 4), Error);
  const Ranks ranks(selection, 4);
  EXPECT_THROW((void)simulate(ranks, -1, {}), Error);
  EXPECT_THROW((void)simulate(ranks, 8, {.between = {.latency_s = -1}}), Error);
  EXPECT_THROW((void)simulate(ranks, 8, {.cores = 0}), Error);
  EXPECT_THROW((void)simulate(ranks, 8, {}, {.arrivals_s = {0, 1}}), Error);
  EXPECT_THROW((void)simulate(ranks, 8, {}, {.slow = {{4, 2}}}), Error);
  EXPECT_THROW((void)critical_path(simulate(ranks, 8, {})), Error);
  EXPECT_THROW((void)simulate(ranks, 8, {}, {}, {.record = false, .go_on = {}}).played.at(0), std::out_of_range);
  // A message whose receive is missing, and ranks that wait for one another.
  std::vector<Schedule> lost = build_all_ranks(*selection.algorithm, selection.collective, {.size = 2});
  lost[1].steps.clear();
  EXPECT_THROW((void)simulate(Ranks(lost), 8, {}), Error);
  std::vector<Schedule> stuck = build_all_ranks(*selection.algorithm, selection.collective, {.size = 2});
  stuck[0].steps.clear();
  EXPECT_THROW((void)simulate(Ranks(stuck), 8, {}), Error);
}

TEST(SimulateText, TimesAndDistributions) {
  EXPECT_EQ(sim::parse_time("10us"), 10 * 1e-6);
  EXPECT_EQ(sim::parse_time(" 3 ns "), 3 * 1e-9);
  EXPECT_EQ(sim::parse_time("2e-6"), 2e-6);
  EXPECT_EQ(sim::parse_time("-0"), 0);
  for (const char* wrong : {"", "us", "-1", "1 min", "nan", "inf", "1e999", "1us us"})
    EXPECT_FALSE(sim::parse_time(wrong)) << wrong;
  EXPECT_EQ(sim::parse_spread("uniform:1ms"), (sim::Spread{sim::Spread::Kind::uniform, 1e-3}));
  EXPECT_EQ(sim::parse_spread("none"), sim::Spread{});
  for (const char* wrong : {"", "uniform", "uniform:", "gauss:1us", "normal:x"})
    EXPECT_THROW((void)sim::parse_spread(wrong), Error) << wrong;
}

TEST(SimulateText, ArrivalsNameTheLine) {
  EXPECT_EQ(sim::arrivals_from_text("# measured\n1us\n\n0 # first\r\n2e-3", 3, "f"),
            (std::vector<double>{1e-6, 0, 2e-3}));
  const auto error = [](std::string_view text, Rank p) -> std::string {
    try {
      (void)sim::arrivals_from_text(text, p, "f");
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_EQ(error("1us\nx\n", 2), "f:2: 'x' is no time, such as 10us or 2e-6");
  EXPECT_EQ(error("0\n0\n0\n", 2), "f:3: there are more times than 2 ranks");
  EXPECT_EQ(error("0\n", 2), "f:1: the file ends after 1 times, and there are 2 ranks");
}

}  // namespace
}  // namespace circoll
