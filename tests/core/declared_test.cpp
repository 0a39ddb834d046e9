// Family and `when` of the algorithms: all algorithms declare them, and they are true where the model can tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"

namespace circoll {
namespace {

constexpr std::string_view never = "never by cost: ";

TEST(Declared, FamilyAndWhen) {
  for (const Algorithm* a : all_algorithms()) {
    const std::string id = a->id(a->collectives.front());
    EXPECT_NE(a->family, Family::undeclared) << id;
    EXPECT_NE(to_string(a->family), "undeclared") << id;
    EXPECT_FALSE(a->when.empty()) << id;
    EXPECT_LE(a->when.size(), 160U) << id << ": a few words are enough";
    EXPECT_FALSE(a->when.ends_with('.')) << id;
    EXPECT_EQ(a->when.find('|'), std::string_view::npos) << id << ": it stands in a table";
  }
}

TEST(Declared, WhatIsMadeOfCirculantPartsIsCirculant) {
  const auto family = [](std::string_view id) { return parse_selection(id).algorithm->family; };
  // The rounds of these across ranks or nodes are those of an algorithm on a circulant graph, whatever their names.
  for (const char* id :
       {"allreduce/allgather_reduce", "allreduce/leaders_circulant", "bcast/leaders", "reduce/leaders"}) {
    EXPECT_EQ(family(id), Family::circulant) << id;
  }
  EXPECT_EQ(family("allreduce/leaders"), Family::hierarchical) << "recursive doubling among the leaders";
  EXPECT_EQ(family("gather/leaders"), Family::hierarchical) << "binomial and k-nomial trees";
}

/// A sum whose ranks may associate differently, one that must have the same bits, one of a caller, and a minimum.
std::vector<CallFacts> calls(Collective collective, Rank p, Count bytes) {
  const CallFacts exact = facts_of(collective, p, bytes, Op::sum, Type::int32);
  if (!is_reducing(collective)) return {exact};
  CallFacts ordered = facts_of(collective, p, bytes, Op::sum, Type::float64);
  ordered.op.commutative = ordered.predefined_op = false;
  return {exact, facts_of(collective, p, bytes, Op::sum, Type::float64),
          facts_of(collective, p, bytes, Op::min, Type::int32), ordered};
}

/// Every algorithm that the model takes for some call.
std::set<const Algorithm*> taken() {
  const auto model = make_policy("model");
  std::set<const Algorithm*> found;
  const auto decide = [&](const CallFacts& facts) {
    const Decision decision = model->decide(facts);
    if (decision.selection) found.insert(decision.selection->algorithm);
  };
  for (const Collective collective : all_collectives) {
    for (CallFacts facts : calls(collective, 1000, 8)) {
      facts.cores = 10;
      decide(facts);
    }
    for (Count bytes = 8; bytes <= Count{64} << 20; bytes *= 4) {
      for (const Rank p : {2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 24, 33, 36, 64, 100, 1000}) {
        for (const CallFacts& facts : calls(collective, p, bytes)) decide(facts);
      }
      for (const auto& [p, cores] : {std::pair<Rank, Rank>{12, 6}, {40, 8}, {64, 16}, {80, 16}}) {
        for (CallFacts facts : calls(collective, p, bytes)) {
          facts.cores = cores;
          decide(facts);
        }
      }
    }
  }
  return found;
}

TEST(Declared, NeverByCostMeansNever) {
  const std::set<const Algorithm*> found = taken();
  EXPECT_GT(found.size(), 30U);
  for (const Algorithm* a : found) {
    EXPECT_FALSE(a->when.starts_with(never)) << a->id(a->collectives.front());
    EXPECT_TRUE(a->automatic) << a->id(a->collectives.front());
  }
  // Most algorithms that the model never takes here say so. The others are for calls that the model knows nothing of.
  std::set<std::string> silent;
  for (const Algorithm* a : all_algorithms()) {
    if (!found.contains(a) && !a->when.starts_with(never)) silent.insert(a->id(a->collectives.front()));
  }
  EXPECT_EQ(silent, std::set<std::string>{"allgather/circulant_pipelined"}) << "for blocks of uneven sizes";
}

TEST(Declared, CostAndExplainRankAlike) {
  // All algorithms that may be ranked: for no operator, or for one that suits every algorithm.
  const PolicyOptions options{.machine = default_machine(), .allow_rank_divergence = true};
  const auto model = make_policy("model", options);
  int compared = 0;
  for (const Collective collective : all_collectives) {
    for (const Rank p : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 24, 33, 64, 100, 257, 1000}) {
      for (const Count size : {Count{0}, Count{8}, Count{1000}, Count{1} << 14, Count{1} << 20, Count{1} << 26}) {
        const Count bytes = size_decides(collective) ? size : 0;
        for (const bool commutative : {true, false}) {
          CallFacts facts{.collective = collective, .p = p, .bytes = bytes};
          facts.op = {.commutative = commutative, .idempotent = commutative};
          const Decision decision = model->decide(facts);
          std::vector<Ranked> ranking = rank_algorithms(collective, p, bytes, facts.op, options.machine);
          ASSERT_EQ(decision.candidates.size() + decision.ruled_out.size(), ranking.size());
          // `cost` also has those that serve by name only.
          std::erase_if(ranking, [](const Ranked& one) { return !one.selection.algorithm->automatic; });
          for (std::size_t i = 0; i < ranking.size(); ++i) {
            const std::string where = ranking[i].selection.id() + " p=" + std::to_string(p) + " " +
                                      std::to_string(bytes) + " bytes, place " + std::to_string(i);
            ASSERT_EQ(ranking[i].unmet_need.empty(), i < decision.candidates.size()) << where;
            if (i >= decision.candidates.size()) continue;
            ASSERT_EQ(ranking[i].selection.id(), decision.candidates[i].selection.id()) << where;
            ASSERT_EQ(ranking[i].selection.params, decision.candidates[i].selection.params) << where;
            ASSERT_EQ(ranking[i].time_s, decision.candidates[i].seconds) << where;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 5000);
}

/// Rounds that wait for one another.
std::int64_t waiting(const Ranked& ranked, Rank p) {
  const Shape shape{.size = p, .params = ranked.selection.params};
  const std::int64_t levels = critical_path(*ranked.selection.algorithm, ranked.selection.collective, shape).levels;
  return levels > 0 ? levels : ranked.selection.algorithm->cost(shape).rounds;
}

TEST(Declared, TiesGoToFewerWaitingRoundsFirst) {
  int decided = 0;
  for (const Collective collective : all_collectives) {
    for (const Rank p : {5, 7, 11, 16}) {
      const auto ranking = rank_algorithms(collective, p, 1 << 10, {}, default_machine());
      for (std::size_t i = 1; i < ranking.size() && ranking[i].unmet_need.empty(); ++i) {
        if (ranking[i - 1].time_s != ranking[i].time_s) continue;
        if (ranking[i - 1].selection.algorithm->automatic != ranking[i].selection.algorithm->automatic) continue;
        EXPECT_LE(waiting(ranking[i - 1], p), waiting(ranking[i], p))
            << ranking[i - 1].selection.id() << " before " << ranking[i].selection.id() << " p=" << p;
        decided += waiting(ranking[i - 1], p) < waiting(ranking[i], p) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(decided, 0);
}

TEST(Declared, TiesGoByWaitingRoundsThenCopiesThenFamilyThenOrder) {
  const auto place = [](Collective collective, Rank p, std::string_view name) {
    const auto ranking = rank_algorithms(collective, p, 1 << 10, {}, default_machine());
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      if (ranking[i].selection.algorithm->name == name) return i;
    }
    return ranking.size();
  };
  // With equal times and one block copied by each, the family decides, against the order of names.
  EXPECT_LT(place(Collective::allgather, 11, "circulant_optimal"), place(Collective::allgather, 11, "bruck"));
  // With the same family and copies, the order of names decides, but for a round that need not wait.
  EXPECT_LT(place(Collective::allgather, 13, "circulant"), place(Collective::allgather, 13, "circulant_optimal"));
  EXPECT_LT(place(Collective::allgather, 11, "bruck"), place(Collective::allgather, 11, "circulant"));
  EXPECT_LT(place(Collective::reduce_scatter, 16, "circulant"),
            place(Collective::reduce_scatter, 16, "circulant_optimal"));
}

TEST(Declared, ServesByNameOnlyUntilMeasured) {
  const auto model = make_policy("model");
  int priced = 0, seen = 0;
  for (const Algorithm* a : all_algorithms()) {
    if (a->automatic) continue;
    ++seen;
    const Collective collective = a->collectives.front();
    for (const Rank cores : {1, 4, 16}) {
      CallFacts facts = facts_of(collective, 16, size_decides(collective) ? 1 << 16 : 0, Op::sum, Type::int32);
      facts.cores = cores;
      const Decision decision = model->decide(facts);
      const auto out = std::find_if(decision.ruled_out.begin(), decision.ruled_out.end(),
                                    [&](const RuledOut& r) { return r.id == a->id(collective); });
      ASSERT_NE(out, decision.ruled_out.end()) << a->id(collective);
      EXPECT_NE(out->why.find("by name only"), std::string::npos) << a->id(collective);
    }
    for (const Ranked& one : rank_algorithms(collective, 16, 1 << 16, {}, default_machine()))
      priced += one.selection.algorithm == a && one.unmet_need.empty() && one.time_s > 0 ? 1 : 0;
  }
  EXPECT_GT(seen, 0);
  EXPECT_EQ(priced, seen) << "circoll cost prices them";
}

TEST(Declared, TiesGoToWhatPoliciesTakeByThemselves) {
  for (const Collective collective : all_collectives) {
    for (const Rank p : {6, 12, 16}) {
      const auto ranking =
          rank_algorithms(collective, p, size_decides(collective) ? 1 << 10 : 0, {}, default_machine());
      for (std::size_t i = 1; i < ranking.size() && ranking[i].unmet_need.empty(); ++i) {
        if (ranking[i - 1].time_s != ranking[i].time_s) continue;
        EXPECT_GE(ranking[i - 1].selection.algorithm->automatic, ranking[i].selection.algorithm->automatic)
            << ranking[i - 1].selection.id() << " before " << ranking[i].selection.id();
      }
    }
  }
}

TEST(Declared, TiesGoToFewerCopiesFirst) {
  int decided = 0;
  for (const Collective collective : all_collectives) {
    for (const Rank p : {7, 11, 16}) {
      const auto ranking = rank_algorithms(collective, p, 1 << 10, {}, default_machine());
      const auto copies = [&](const Ranked& ranked) {
        const Cost cost = ranked.selection.algorithm->cost({.size = p, .params = ranked.selection.params});
        return cost.sent == 0 ? 0.0 : static_cast<double>(cost.copied) / static_cast<double>(cost.sent);
      };
      for (std::size_t i = 1; i < ranking.size() && ranking[i].unmet_need.empty(); ++i) {
        if (ranking[i - 1].time_s != ranking[i].time_s) continue;
        if (ranking[i - 1].selection.algorithm->automatic != ranking[i].selection.algorithm->automatic) continue;
        if (waiting(ranking[i - 1], p) != waiting(ranking[i], p)) continue;
        EXPECT_LE(copies(ranking[i - 1]), copies(ranking[i]))
            << ranking[i - 1].selection.id() << " before " << ranking[i].selection.id();
        decided += copies(ranking[i - 1]) < copies(ranking[i]) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(decided, 0);
}

}  // namespace
}  // namespace circoll
