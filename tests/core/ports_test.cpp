// Rounds that go at once on several ports: what algorithms declare, the proofs that count it, and the price.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/select.hpp"
#include "circoll/verify.hpp"
#include "select/machine.hpp"
#include "verify/proof.hpp"

namespace circoll {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(Ports, RoundsJoinWhileThereArePortsAndNobodyWaits) {
  EXPECT_EQ(groups_on_ports({}, 2), Numbers{});
  const Numbers free(5, -1);
  EXPECT_EQ(groups_on_ports(free, 1), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(groups_on_ports(free, 2), (Numbers{0, 0, 1, 1, 2}));
  EXPECT_EQ(groups_on_ports(free, 9), (Numbers{0, 0, 0, 0, 0}));
  // Round 1 waits for round 0, round 3 for round 2, round 4 for round 0.
  const Numbers waiting{-1, 0, -1, 2, 0};
  EXPECT_EQ(groups_on_ports(waiting, 3), (Numbers{0, 1, 1, 2, 2}));
  EXPECT_EQ(groups_on_ports(waiting, 1), (Numbers{0, 1, 2, 3, 4}));
}

/// The least rounds in which every rank can hear of all others on k ports.
std::int64_t least_rounds(Rank p, std::int64_t k) {
  std::int64_t rounds = 0;
  for (Rank reached = 1; reached < p; reached *= k + 1) ++rounds;
  return rounds;
}

/// Proves of an algorithm for k ports that it has the least rounds, and a k-th of the volume but for parts of blocks.
void expect_optimal(const Selection& selection, std::int64_t k) {
  const std::int64_t parts = selection.collective == Collective::allreduce ? 2 : 1;
  for (Rank p = 1; p <= 300; ++p) {
    const std::string where = selection.text() + " p=" + std::to_string(p);
    const Shape shape{.size = p, .params = selection.params};
    const RoundsOnPorts declared = selection.algorithm->on_ports(shape, k);
    EXPECT_EQ(declared.rounds, parts * least_rounds(p, k)) << where;
    EXPECT_LE(k * declared.volume, parts * (p - 1) + (k - 1) * declared.rounds) << where;
    EXPECT_EQ(declared.one_way, 0) << where;
    const RoundsOnPorts one = selection.algorithm->on_ports(shape, 1);
    EXPECT_EQ(one.rounds, selection.algorithm->cost(shape).rounds) << where;
    EXPECT_EQ(one.volume, parts * (p - 1)) << where;
  }
}

TEST(Ports, AlgorithmsForThemTakeTheLeastRoundsAndVolume) {
  for (const char* collective : {"allgather", "reduce_scatter", "allreduce"}) {
    for (const std::int64_t k : {2, 3, 4, 7}) {
      const std::string id = collective + std::string("/circulant_ports:ports=") + std::to_string(k);
      expect_optimal(parse_selection(id), k);
    }
    expect_optimal(parse_selection(collective + std::string("/trivance")), 2);
  }
}

TEST(Ports, NoMessageOfTrivanceGoesFurtherThanAThird) {
  const Selection selection = parse_selection("allgather/trivance");
  for (Rank p = 2; p <= 300; ++p) {
    const Schedule s = build_schedule(*selection.algorithm, selection.collective, {.size = p});
    for (const Step& step : s.steps) {
      if (!is_message(step)) continue;
      EXPECT_LE(std::min(step.peer, p - step.peer), (p + 2) / 3) << p;
    }
  }
}

TEST(Ports, WhatIsDeclaredIsCounted) {
  int declared = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->on_ports == nullptr) continue;
    ++declared;
    const Collective collective = algorithm->collectives.front();
    std::vector<Params> all{{}};
    for (const ParamDeclaration& param : algorithm->params) {
      for (const std::int64_t value : {2, 3, 4, 5, 9})
        if (value >= param.minimum) all.push_back({{std::string(param.name), value}});
    }
    for (const Params& params : all) {
      for (Rank p = 1; p <= 40; ++p) {
        const Shape shape{.size = p, .params = params};
        const std::vector<Schedule> ranks = build_all_ranks(*algorithm, collective, shape);
        std::vector<Dependencies> dependencies;
        for (const Schedule& s : ranks) dependencies.push_back(derive_dependencies(s));
        for (std::int64_t ports = 1; ports <= 6; ++ports) {
          EXPECT_EQ(algorithm->on_ports(shape, ports), verify::count_on_ports(ranks, dependencies, ports))
              << Selection{algorithm, collective, params}.text() << " p=" << p << " on " << ports;
        }
      }
    }
  }
  EXPECT_EQ(declared, 15);
}

TEST(Ports, AWrongDeclarationIsRefuted) {
  const Selection selection = parse_selection("allgather/circulant_ports");
  const Shape shape{.size = 9, .params = {{"ports", 2}}};
  const std::vector<Schedule> ranks = build_all_ranks(*selection.algorithm, selection.collective, shape);
  Claims claims{.on_ports = [&](std::int64_t ports) { return selection.algorithm->on_ports(shape, ports); }};
  EXPECT_TRUE(verify_schedules(ranks, claims).proven());
  claims.on_ports = [&](std::int64_t ports) {
    RoundsOnPorts wrong = selection.algorithm->on_ports(shape, ports);
    if (ports == 3) ++wrong.volume;
    return wrong;
  };
  const Verdict refuted = verify_schedules(ranks, claims);
  ASSERT_FALSE(refuted.proven());
  EXPECT_EQ(refuted.refutation->claim, Claim::cost);
  EXPECT_EQ(refuted.refutation->what, "volume on 3 ports: declared 5, counted 4");
}

TEST(Ports, APriceCountsThem) {
  Machine machine{.alpha_s = 1, .beta_s_per_byte = 1, .gamma_s_per_byte = 0.5, .f_alpha = 1, .f_beta = 1, .ports = 2};
  const Selection allgather = parse_selection("allgather/circulant_ports:ports=2");
  // Two rounds, of 1 and 3 blocks of 10 bytes.
  EXPECT_DOUBLE_EQ(seconds(terms_of(allgather, 9, 90, 0, machine.ports), machine), 2 + 40);
  EXPECT_DOUBLE_EQ(seconds(terms_of(allgather, 9, 90), machine), 4 + 80);
  const Selection allreduce = parse_selection("allreduce/circulant_ports:ports=2");
  EXPECT_DOUBLE_EQ(seconds(terms_of(allreduce, 9, 90, 0, 2), machine), 4 + 80 + 0.5 * 80);
  // Nothing is declared here, so that the price is that of one port.
  const Selection ring = parse_selection("allgather/ring");
  EXPECT_DOUBLE_EQ(seconds(terms_of(ring, 9, 90, 0, 2), machine), seconds(terms_of(ring, 9, 90), machine));
  machine.node_ways = {{.name = "stored", .alpha_s = 1, .beta_s_per_byte = 1, .gamma_s_per_byte = 1}};
  EXPECT_EQ(machines_inside(machine).front().machine.ports, 1) << "the memory of a node is no network";
}

TEST(Ports, PoliciesTakeWhatSeveralPortsGain) {
  const CallFacts facts{.collective = Collective::allgather, .p = 81, .bytes = 81 << 12};
  Machine machine{.alpha_s = 20e-6, .beta_s_per_byte = 1e-9};
  const auto decision = [&] { return make_policy("model", {.machine = machine})->decide(facts); };
  const auto ruled_out = [](const Decision& d) {
    return std::any_of(d.ruled_out.begin(), d.ruled_out.end(),
                       [](const RuledOut& one) { return one.id == "allgather/circulant_ports"; });
  };
  EXPECT_TRUE(ruled_out(decision()));
  machine.ports = 2;
  const Decision two = decision();
  EXPECT_FALSE(ruled_out(two));
  ASSERT_TRUE(two.selection);
  EXPECT_EQ(two.selection->text(), "circulant_ports") << "two ports are the default";
  machine.ports = 4;
  EXPECT_EQ(decision().selection->text(), "circulant_ports:ports=4");
  const CallFacts short_bcast{.collective = Collective::bcast, .p = 81, .bytes = 8};
  machine.ports = 2;
  EXPECT_EQ(make_policy("model", {.machine = machine})->decide(short_bcast).selection->text(), "knomial:radix=3");
}

TEST(Ports, AFileSaysThem) {
  const Machine two{.name = "two", .ports = 2};
  EXPECT_EQ(machine_from_json(to_json(two), "file").ports, 2);
  EXPECT_EQ(to_json(Machine{}).find("ports"), std::string::npos);
  std::string wrong = to_json(two);
  wrong.replace(wrong.find("\"ports\": 2"), 10, "\"ports\": 0");
  EXPECT_THROW((void)machine_from_json(wrong, "file"), Error);
}

}  // namespace
}  // namespace circoll
