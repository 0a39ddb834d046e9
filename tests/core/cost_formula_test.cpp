// The formulas that algorithms declare give their costs, for p = 2 .. 64.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "circoll/algorithm.hpp"
#include "circoll/verify.hpp"
#include "oracle/formula.hpp"

namespace circoll {
namespace {

using formula::evaluate;
using formula::mismatch;
using formula::Names;

TEST(Formula, IsComputedAsItReads) {
  const Names names{{"p", 12}, {"q", 4}, {"n", 3}};
  EXPECT_EQ(evaluate("n(p-1) + 2q", names), 41);
  EXPECT_EQ(evaluate("2 ceil(log2 p)", names), 8);
  EXPECT_EQ(evaluate("3/2 p[n>2] - 2^n", names), 10);
  EXPECT_EQ(evaluate("-2^2", names), -4);
  EXPECT_EQ(evaluate("[p<=12] + [p<12] + [p=12] + [p>=13]", names), 2);
  EXPECT_EQ(evaluate("sum(i, 1, q, 2^i) + max(1, p mod 5, 0)", names), 32);
  EXPECT_EQ(evaluate("sum(i, 1, 0, 2^i)", names), 0);
  EXPECT_EQ(evaluate("ones(p-1) + twos(p)", names), 5);
  EXPECT_EQ(evaluate("a b, a = b + 1, b = min(p, 2)", names), 6);
  EXPECT_THROW((void)evaluate("p +", names), std::runtime_error);
  EXPECT_THROW((void)evaluate("(p", names), std::runtime_error);
  EXPECT_THROW((void)evaluate("x", names), std::runtime_error);
  EXPECT_THROW((void)evaluate("p q)", names), std::runtime_error);
}

TEST(Formula, BoundsAndWordsAreChecked) {
  const Names names{{"p", 4}};
  EXPECT_EQ(mismatch("p-1", names, 3), "");
  EXPECT_NE(mismatch("p-1", names, 4), "");
  EXPECT_EQ(mismatch("<= p", names, 4), "");
  EXPECT_NE(mismatch("<= p", names, 5), "");
  EXPECT_EQ(mismatch("counted", names, 5), "");
  EXPECT_EQ(mismatch("counted; 3 for p = 4", names, 3), "");
  EXPECT_NE(mismatch("counted; 3 for p = 4", names, 2), "");
  EXPECT_EQ(mismatch("counted; 3 for p = 5", names, 2), "");
  EXPECT_NE(mismatch("counted, more or less", names, 2), "");
}

/// Values to try for each of the parameters.
std::vector<Params> params_of(const Algorithm& algorithm) {
  std::vector<Params> all{{}};
  for (const ParamDeclaration& p : algorithm.params) {
    std::vector<Params> more;
    for (const Params& params : all) {
      for (const std::int64_t value : {1, 2, 3, 4, 5, 8, 13}) {
        if (value < p.minimum) continue;
        more.push_back(params);
        more.back().insert_or_assign(std::string(p.name), value);
      }
    }
    all = std::move(more);
  }
  return all;
}

std::string written(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) text += " " + name + "=" + std::to_string(value);
  return text;
}

void check_formulas(const Algorithm& a, Collective collective, const Shape& shape) {
  const auto p = static_cast<double>(shape.size);
  const double least = std::floor(std::log2(p));
  const Cost cost = a.cost(shape);
  const CriticalPath path = critical_path(a, collective, shape);
  Names names{{"p", p},
              {"q", std::ceil(std::log2(p))},
              {"L", least},
              {"P", std::exp2(least)},
              {"r", p - std::exp2(least)},
              {"root", static_cast<double>(shape.root)},
              {"rounds", static_cast<double>(cost.rounds)},
              {"one_way", static_cast<double>(path.one_way)},
              {"volume", static_cast<double>(path.volume)}};
  for (const auto& [name, value] : shape.params)
    names.insert_or_assign(name == "segments" ? "n" : name, static_cast<double>(value));
  const Algorithm symmetric{.collectives = a.collectives, .params = a.params, .cost = a.cost};
  const CriticalPath plain = critical_path(symmetric, collective, shape);
  const auto check = [&](std::string_view what, std::string_view text, std::int64_t actual, std::int64_t fallback) {
    const std::string wrong = text.empty()
                                  ? actual == fallback ? "" : "no formula, and not that of a symmetric algorithm"
                                  : mismatch(text, names, static_cast<double>(actual));
    EXPECT_EQ(wrong, "") << a.id(collective) << " " << what << " p=" << shape.size << " root=" << shape.root
                         << written(shape.params);
  };
  const CostFormula& f = a.formula;
  ASSERT_FALSE(f.rounds.empty() || f.sent.empty() || f.reduced.empty()) << a.id(collective);
  check("rounds", f.rounds, cost.rounds, -1);
  check("sent", f.sent, cost.sent, -1);
  check("reduced", f.reduced, cost.reduced, -1);
  check("blocks", f.blocks, path.blocks, plain.blocks);
  check("two_way", f.two_way, cost.rounds - path.one_way, cost.rounds);
  check("one_way", f.one_way, path.one_way, 0);
  check("volume", f.volume, path.volume, plain.volume);
  check("one_way_volume", f.one_way_volume, path.one_way_volume, 0);
  check("combined", f.combined, path.combined, plain.combined);
}

// Sanitizers make every access dear: fewer p, not fewer algorithms.
#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 20;
#else
constexpr Rank last_size = 64;
#endif

TEST(CostFormulas, AreTheCosts) {
  for (const Algorithm* a : all_algorithms()) {
    for (Rank p = 2; p <= last_size; ++p) {
      if (!unmet_need(*a, p, {.commutative = true, .idempotent = true}).empty()) continue;
      for (const Params& params : params_of(*a)) {
        for (const Collective c : a->collectives) {
          const std::set<Rank> roots = is_rooted(c) ? std::set<Rank>{0, 1, p / 2, p - 1} : std::set<Rank>{0};
          for (const Rank root : roots) check_formulas(*a, c, {.size = p, .root = root, .params = params});
        }
      }
      if (testing::Test::HasFailure()) break;  // the smallest p is enough
    }
  }
}

/// With the parameters' defaults; families of roots and segments are verified elsewhere.
TEST(CriticalPaths, AreCountedFromTheSchedules) {
  for (const Algorithm* a : all_algorithms()) {
    for (Rank p = 1; p <= last_size; ++p) {
      if (!unmet_need(*a, p, {.commutative = true, .idempotent = true}).empty()) continue;
      const Collective c = a->collectives[0];
      const Verdict verdict = verify_algorithm(*a, c, {.size = p});
      ASSERT_TRUE(verdict.proven()) << verdict.refutation->to_string();
      CriticalPath declared = critical_path(*a, c, {.size = p});
      const auto rounds = a->cost({.size = p}).rounds;
      EXPECT_TRUE(verdict.path.levels <= rounds && (verdict.path.levels > 0) == (rounds > 0)) << a->id(c) << " p=" << p;
      if (declared.levels == 0) declared.levels = verdict.path.levels;  // not said
      EXPECT_EQ(verdict.path, declared) << a->id(c) << " p=" << p;
      EXPECT_EQ(verdict.counted, a->cost({.size = p})) << a->id(c) << " p=" << p;
    }
  }
}

/// The model prices p = 1,048,576 without schedules. Its closed forms do not count over ranks, so that it can price all
/// algorithms quickly.
TEST(CriticalPaths, AreThereForAMillionRanks) {
  const Rank p = 1 << 20;
  for (const Algorithm* a : all_algorithms()) {
    const CriticalPath path = critical_path(*a, a->collectives[0], {.size = p});
    const Cost cost = a->cost({.size = p});
    EXPECT_GT(path.blocks, 0) << a->name;
    EXPECT_GE(path.one_way, 0) << a->name;
    EXPECT_LE(path.one_way, cost.rounds) << a->name;
    EXPECT_GE(path.volume + path.one_way_volume, cost.sent) << a->name << ": no rank sends more than the path carries";
    EXPECT_GE(path.combined, cost.reduced) << a->name;
  }
}

}  // namespace
}  // namespace circoll
