// Contention against closed forms of the cost model, against a plain version of itself, and against sums by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "circoll/collectives.hpp"
#include "circoll/dependencies.hpp"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "naive_contention.hpp"
#include "sim/contention.hpp"
#include "verify/proof.hpp"

namespace circoll {
namespace {

using sim::Contention;
using sim::Fabric;
using sim::Level;
using sim::parse_topology;
using sim::Placement;
using sim::Ranks;

/// A machine whose numbers have no two equal sums by accident.
const Machine machine{.name = "test",
                      .alpha_s = 1.7e-6,
                      .beta_s_per_byte = 0.31e-9,
                      .gamma_s_per_byte = 0.043e-9,
                      .f_alpha = 1,
                      .f_beta = 1,
                      .node_alpha_s = 0.37e-6,
                      .node_beta_s_per_byte = 0.113e-9};
/// A machine whose numbers are easily added.
const Machine plain{.name = "plain",
                    .alpha_s = 1000,
                    .beta_s_per_byte = 1,
                    .gamma_s_per_byte = 0,
                    .f_alpha = 1,
                    .f_beta = 1,
                    .node_alpha_s = 10,
                    .node_beta_s_per_byte = 0.5};

Fabric fabric(const std::string& topology, Rank p, Rank cores = 1, const Placement& placement = {}, int ports = 1) {
  const auto network = parse_topology(topology, sim::nodes_needed(p, cores));
  return {.topology = network, .node_of = sim::place(placement, p, cores, network->nodes()), .ports = ports};
}

Contention of(const std::string& id, Rank p, double bytes, const Fabric& on, const Machine& prices = plain) {
  return contention(Ranks(parse_selection(id), p), bytes, on, prices);
}

#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 24;
#else
constexpr Rank last_size = 64;
#endif

TEST(Contention, OnOneSwitchIsTheClosedForm) {
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (Rank p = 2; p <= last_size; ++p) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      const Rank root = is_rooted(selection.collective) ? p / 3 : 0;
      const Ranks ranks(selection, p, root);
      for (const Count bytes : {Count{8}, Count{1} << 20}) {
        const double form = seconds(terms_of(selection, p, bytes, root), machine);
        const Contention result = contention(ranks, static_cast<double>(bytes), fabric("flat", p), machine);
        EXPECT_NEAR(result.time_s, form, 1e-12 * form) << selection.id() << " p = " << p << ", " << bytes;
        EXPECT_EQ(result.alone_s, result.time_s) << selection.id() << " p = " << p << ", " << bytes;
      }
    }
  }
}

/// A network as contention() gets it, and as the plain version does.
struct Network {
  std::string words;
  naive::Route route;
  double hop_s = 0;
};

/// Makes one round of those that go at once: a round joins the ones before while there are ports, and while none of its
/// messages waits for one of theirs.
void number_for_ports(std::vector<Schedule>& schedules, int ports) {
  std::vector<std::int64_t> waits_for(schedules[0].rounds, -1);
  for (const Schedule& s : schedules) {
    const std::vector<std::int64_t> latest = verify::latest_rounds(s, derive_dependencies(s));
    for (std::size_t i = 0; i < latest.size(); ++i) {
      if (!is_message(s.steps[i])) continue;
      waits_for[s.steps[i].round] = std::max(waits_for[s.steps[i].round], latest[i]);
    }
  }
  std::vector<std::uint32_t> numbers;
  std::int64_t first = 0;
  std::uint32_t number = 0;
  for (std::int64_t round = 0; round < std::ssize(waits_for); ++round) {
    if (round > 0 && (round - first == ports || waits_for[static_cast<std::size_t>(round)] >= first)) {
      first = round;
      ++number;
    }
    numbers.push_back(number);
  }
  numbers.push_back(waits_for.empty() ? 0 : number + 1);  // of combinations after the last round
  for (Schedule& s : schedules) {
    for (Step& step : s.steps) step.round = numbers[step.round];
    s.rounds = numbers.back();
  }
}

void expect_as_written_plainly(const Selection& selection, Rank p, Rank cores, const Network& network,
                               const Placement& placement, int ports) {
  const Shape shape{.size = p, .root = is_rooted(selection.collective) ? p - 1 : 0, .params = selection.params};
  std::vector<Schedule> schedules = build_all_ranks(*selection.algorithm, selection.collective, shape);
  number_for_ports(schedules, ports);
  const double bytes = 10000;
  const double vector_blocks = static_cast<double>(schedules[0].blocks() / (is_exchange(selection.collective) ? p : 1));
  const double block_bytes = traits_of(selection.collective).moves_data ? bytes / vector_blocks : 0;
  const Fabric on = fabric(network.words, p, cores, placement, ports);
  const std::vector<naive::Round> expected = naive::rounds(
      schedules, block_bytes, machine, {on.node_of.begin(), on.node_of.end()}, network.route, ports, network.hop_s);
  const Contention result = contention(Ranks(selection, p, shape.root), bytes, on, machine);
  const std::string where = selection.id() + " p = " + std::to_string(p) + ", " + network.words;
  double time_s = 0;
  double alone_s = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const naive::Round& round = expected[k];
    time_s += round.time_s + round.combined_s;
    alone_s += round.alone_s + round.combined_s;
    if (k >= result.rounds.size()) {
      EXPECT_TRUE(round.links.empty() && round.combined_s == 0) << where;
      continue;
    }
    const sim::ContendedRound& read = result.rounds[k];
    EXPECT_NEAR(read.time_s, round.time_s, 1e-12 * round.time_s) << where << ", round " << k;
    EXPECT_NEAR(read.alone_s, round.alone_s, 1e-12 * round.alone_s) << where << ", round " << k;
    EXPECT_NEAR(read.combined_s, round.combined_s, 1e-12 * round.combined_s) << where << ", round " << k;
    const auto seconds_of = [&](const std::string& name) {
      const naive::Traffic& traffic = round.links.at(name);
      const bool inside = name.find("inside") != std::string::npos;
      return traffic.bytes / traffic.capacity * (inside ? machine.node_beta_s_per_byte : machine.beta_s_per_byte);
    };
    double longest_s = 0;
    for (const auto& [name, traffic] : round.links) longest_s = std::max(longest_s, seconds_of(name));
    ASSERT_EQ(read.busiest.has_value(), longest_s > 0) << where << ", round " << k;
    if (!read.busiest) continue;
    const std::string name = link_name(on, read.busiest->link);
    ASSERT_TRUE(round.links.contains(name)) << where << ", " << name;
    EXPECT_NEAR(seconds_of(name), longest_s, 1e-12 * longest_s) << where << ", " << name;
    EXPECT_NEAR(read.busiest->bytes, round.links.at(name).bytes, 1e-9) << where << ", " << name;
    EXPECT_EQ(read.busiest->messages, round.links.at(name).messages) << where << ", " << name;
    EXPECT_EQ(read.busiest->capacity, round.links.at(name).capacity) << where << ", " << name;
  }
  EXPECT_NEAR(result.time_s, time_s, 1e-12 * time_s) << where;
  EXPECT_NEAR(result.alone_s, alone_s, 1e-12 * alone_s) << where;
  EXPECT_GE(result.time_s, result.alone_s * (1 - 1e-12)) << where;
}

TEST(Contention, IsTheModelWrittenPlainly) {
  const std::vector<Network> networks = {
      {"fat_tree:nodes=24,leaves=6,spines=2", naive::fat_tree(24, 6, 2, 1)},
      {"fat_tree:nodes=26,leaves=13,spines=3,up=0.3,hop=0.2us", naive::fat_tree(26, 13, 3, 0.3), 0.2e-6},
      {"dragonfly:groups=7,routers=2,hosts=2", naive::dragonfly(7, 2, 2, 1, 1, 1)},
      {"dragonfly:groups=3,routers=4,hosts=3,links=2,local=0.7,global=2,hop=0.3us",
       naive::dragonfly(3, 4, 3, 2, 0.7, 2), 0.3e-6},
      {"torus:dims=4x3x2", naive::torus({4, 3, 2}, 1, 1)},
      {"torus:dims=5x2,hosts=3,link=1.5,hop=0.1us", naive::torus({5, 2}, 3, 1.5), 0.1e-6},
  };
#ifdef CIRCOLL_SANITIZED
  const std::vector<Rank> sizes{2, 13};
#else
  const std::vector<Rank> sizes{2, 5, 8, 13, 24};
#endif
  std::uint64_t seed = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    const Selection selection{algorithm, algorithm->collectives.front(), {}};
    for (const Rank p : sizes) {
      if (!unmet_need(*algorithm, p, {true, true}).empty()) continue;
      for (const Network& network : networks) {
        expect_as_written_plainly(selection, p, 1, network, {}, 1);
        expect_as_written_plainly(selection, p, 3, network, {.kind = Placement::Kind::round_robin}, 1);
        expect_as_written_plainly(selection, p, 2, network, {.kind = Placement::Kind::random, .seed = ++seed}, 2);
      }
    }
  }
}

TEST(Contention, ShiftsMeetNoneOnAFullFatTree) {
  // There are as many spines as nodes under a leaf, so that every shift of all ranks goes to different spines.
  for (const char* id : {"allreduce/circulant", "allgather/circulant_optimal", "alltoall/pairwise", "allgather/bruck",
                         "allreduce/ring", "barrier/dissemination", "reduce_scatter/circulant"}) {
    const Contention result = of(id, 48, 1 << 20, fabric("fat_tree:nodes=48,leaves=6,spines=8", 48));
    EXPECT_EQ(result.time_s, result.alone_s) << id;
    const Contention random =
        of(id, 48, 1 << 20, fabric("fat_tree:nodes=48,leaves=6,spines=8", 48, 1, {.kind = Placement::Kind::random}));
    if (result.bytes[2] > 0) {
      EXPECT_GT(random.time_s, result.time_s) << id;
    }
  }
}

TEST(Contention, AnOversubscribedFatTreeIsSoManyTimesAsSlow) {
  // Recursive doubling, 32 ranks, 8 under a leaf: three rounds under leaves, two over spines.
  const double under = 3 * (1000 + 100);
  const auto time = [](const std::string& words) {
    return of("allreduce/recursive_doubling", 32, 100, fabric("fat_tree:nodes=32,leaves=4,spines=" + words, 32)).time_s;
  };
  EXPECT_EQ(time("8"), under + 2 * (1000 + 100));
  EXPECT_EQ(time("4"), under + 2 * (1000 + 200));
  EXPECT_EQ(time("8,oversubscription=2"), under + 2 * (1000 + 200));
  EXPECT_EQ(time("1"), under + 2 * (1000 + 800));
  EXPECT_EQ(time("1,up=4"), under + 2 * (1000 + 200));
  EXPECT_EQ(time("1,hop=0.25s"), under + 2 * (1000 + 2 * 0.25 + 800));
}

TEST(Contention, OnARingDistancesAddUp) {
  // In round k of a linear shift, a link of the ring has as many messages as the shift is long.
  const Rank p = 9;
  const Contention result = of("alltoall/pairwise", p, 900, fabric("torus:dims=9", p));
  double expected = 0;
  for (Rank k = 1; k < p; ++k) expected += 1000 + 100 * static_cast<double>(std::min(k, p - k));
  EXPECT_EQ(result.time_s, expected);
  EXPECT_EQ(result.alone_s, 8 * 1100);
  Count hops = 0;
  for (Rank k = 1; k < p; ++k) hops += p * std::min(k, p - k);
  EXPECT_EQ(result.hops, hops);
  const Contention ring = of("allreduce/ring", p, 900, fabric("torus:dims=9", p));
  EXPECT_EQ(ring.time_s, ring.alone_s);
}

TEST(Contention, RanksOfANodeShareItsPorts) {
  const auto time = [](Rank cores, const Placement& placement, int ports) {
    return of("allreduce/recursive_doubling", 4, 100, fabric("flat", 4, cores, placement, ports)).time_s;
  };
  const Placement dealt{.kind = Placement::Kind::round_robin};
  EXPECT_EQ(time(1, {}, 1), 2 * 1100);
  EXPECT_EQ(time(2, {}, 1), (10 + 50) + (1000 + 200));
  EXPECT_EQ(time(2, {}, 2), (10 + 50) + (1000 + 100));
  EXPECT_EQ(time(2, {}, 5), (10 + 50) + (1000 + 100));  // a message takes one port
  EXPECT_EQ(time(2, dealt, 1), (1000 + 200) + (10 + 50));
  EXPECT_EQ(time(4, {}, 1), 2 * (10 + 50));
}

TEST(Contention, CountsBytesByLevel) {
  // Two ranks on a node, four nodes under a leaf: of four rounds one stays in nodes, two under leaves.
  const Contention result =
      of("allreduce/recursive_doubling", 16, 100, fabric("fat_tree:nodes=8,leaves=2,spines=4", 16, 2));
  EXPECT_EQ(result.bytes, (std::array<double, 3>{1600, 3200, 1600}));
  EXPECT_EQ(result.messages, (std::array<Count, 3>{16, 32, 16}));
  EXPECT_EQ(result.hops, 2 * 16);
  ASSERT_EQ(result.rounds.size(), 4U);
  Count messages = 0;
  for (const sim::ContendedRound& round : result.rounds) {
    EXPECT_EQ(round.bytes, 1600);
    EXPECT_EQ(round.longest, 100);
    messages += round.messages;
  }
  EXPECT_EQ(messages, Ranks(parse_selection("allreduce/recursive_doubling"), 16).messages());
}

TEST(Contention, NamesThePortWhereNoLinkIsBusier) {
  const Fabric narrow = fabric("fat_tree:nodes=32,leaves=4,spines=4", 32);
  const Contention result = of("allreduce/recursive_doubling", 32, 100, narrow);
  std::vector<std::string> names;
  for (const sim::ContendedRound& round : result.rounds) names.push_back(link_name(narrow, round.busiest->link));
  EXPECT_EQ(names, (std::vector<std::string>{"node 0, out", "node 0, out", "node 0, out", "leaf 0 to spine 0",
                                             "leaf 0 to spine 0"}));
  EXPECT_EQ(result.rounds[4].busiest->bytes, 200);
  EXPECT_EQ(result.rounds[4].busiest->messages, 2);
  // Without bytes no link is busy.
  EXPECT_FALSE(of("barrier/dissemination", 32, 100, narrow).rounds[0].busiest.has_value());
  EXPECT_FALSE(of("allreduce/recursive_doubling", 32, 0, narrow).rounds[0].busiest.has_value());
}

TEST(Contention, IsReadAtAnySize) {
  const Rank p = 16384;
  const Fabric full = fabric("fat_tree:nodes=1Ki,leaves=32,spines=32", p, 16);
  const Fabric half = fabric("fat_tree:nodes=1Ki,leaves=32,spines=16", p, 16);
  const Ranks ranks(parse_selection("allreduce/circulant"), p);
  const Contention on_full = contention(ranks, 1 << 16, full, machine);
  const Contention on_half = contention(ranks, 1 << 16, half, machine);
  EXPECT_LT(on_full.time_s, on_half.time_s);
  EXPECT_LT(on_full.alone_s, on_full.time_s);  // 16 ranks share a port
  EXPECT_EQ(on_full.alone_s, on_half.alone_s);
  EXPECT_EQ(on_full.messages[0] + on_full.messages[1] + on_full.messages[2], ranks.messages());
}

TEST(Contention, OfSchedulesThatAreThere) {
  const Selection selection = parse_selection("bcast/binomial");
  const std::vector<Schedule> schedules = build_all_ranks(*selection.algorithm, selection.collective, {.size = 11});
  const Fabric on = fabric("torus:dims=11", 11);
  EXPECT_EQ(contention(Ranks(schedules), 64, on, machine).time_s,
            contention(Ranks(selection, 11), 64, on, machine).time_s);
}

TEST(Contention, OfOneRankIsNothing) {
  const Contention result = of("allreduce/circulant", 1, 1 << 20, fabric("torus:dims=3", 1));
  EXPECT_EQ(result.time_s, 0);
  EXPECT_EQ(result.hops, 0);
}

TEST(Contention, RefusesNonsenseAndStops) {
  const Ranks ranks(parse_selection("bcast/binomial"), 4);
  const Fabric good = fabric("flat", 4);
  EXPECT_THROW((void)contention(ranks, -1, good, machine), Error);
  EXPECT_THROW((void)contention(ranks, 8, {}, machine), Error);
  EXPECT_THROW((void)contention(ranks, 8, fabric("flat", 3), machine), Error);
  Fabric wrong = good;
  wrong.node_of[2] = 4;
  EXPECT_THROW((void)contention(ranks, 8, wrong, machine), Error);
  wrong = good;
  wrong.ports = 0;
  EXPECT_THROW((void)contention(ranks, 8, wrong, machine), Error);
  Machine negative = machine;
  negative.beta_s_per_byte = -1;
  EXPECT_THROW((void)contention(ranks, 8, good, negative), Error);
  EXPECT_THROW((void)link_name(good, 2 * (4 + 4)), Error);
  EXPECT_THROW((void)contention(ranks, 8, good, machine, [](Count) { return false; }), sim::Stopped);
}

}  // namespace
}  // namespace circoll
