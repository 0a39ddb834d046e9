// Predicted times: the formulas of the literature where they hold, and the best segments.
#include "circoll/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace circoll {
namespace {

constexpr Count m = 1 << 20;
// One-way messages cost as much as others, so that the closed forms of the literature hold.
const Machine machine{
    .alpha_s = 2e-6, .beta_s_per_byte = 0.25e-9, .gamma_s_per_byte = 0.1e-9, .f_alpha = 1, .f_beta = 1};

Terms terms(const char* id, Rank p, Count bytes = m, Rank root = 0) {
  return terms_of(parse_selection(id), p, bytes, root);
}

void expect_terms(const Terms& got, const Terms& wanted) {
  EXPECT_DOUBLE_EQ(got.alpha, wanted.alpha);
  EXPECT_DOUBLE_EQ(got.alpha_uni, wanted.alpha_uni);
  EXPECT_DOUBLE_EQ(got.bytes, wanted.bytes);
  EXPECT_DOUBLE_EQ(got.bytes_uni, wanted.bytes_uni);
  EXPECT_DOUBLE_EQ(got.combined, wanted.combined);
}

TEST(Terms, AreThoseOfTheLiteratureForPowersOfTwo) {
  const double n = m;
  for (const Rank p : {2, 4, 16, 64, 1024}) {
    const double lg = std::log2(static_cast<double>(p));
    const double part = (static_cast<double>(p) - 1) / static_cast<double>(p);
    expect_terms(terms("allreduce/rabenseifner", p), {2 * lg, 0, 2 * part * n, 0, part * n});
    expect_terms(terms("allreduce/recursive_doubling", p), {lg, 0, lg * n, 0, lg * n});
    expect_terms(terms("reduce_scatter/recursive_halving", p), {lg, 0, part * n, 0, part * n});
    expect_terms(terms("reduce/rabenseifner", p), {lg, lg, part * n, part * n, part * n});
    // Every round has one message up the tree and another one down, not one message for both.
    expect_terms(terms("allreduce/binomial", p), {0, 2 * lg, 0, 2 * lg * n, lg * n});
  }
}

TEST(Terms, AreThoseOfTheLiteratureForEveryP) {
  const double n = m;
  for (const Rank p : {2, 3, 7, 12, 33, 100}) {
    const double steps = static_cast<double>(p) - 1;
    const double part = steps / static_cast<double>(p);
    expect_terms(terms("allreduce/ring", p), {2 * steps, 0, 2 * part * n, 0, part * n});
    expect_terms(terms("reduce_scatter/pairwise", p), {steps, 0, part * n, 0, part * n});
    expect_terms(terms("reduce/ring", p), {steps, steps, part * n, part * n, part * n});
    expect_terms(terms("barrier/linear", p), {0, 2 * steps, 0, 0, 0});
  }
}

TEST(Terms, OfPairsAreWhatTheirDescriptionSays) {
  // Folding the odd ranks in costs (1 + f_alpha) alpha + n/2 (1 + f_beta) beta + n/2 gamma. Telling them the result
  // costs alpha_uni + n beta_uni.
  const Terms folded = terms("allreduce/rabenseifner", 12);
  const Terms plain = terms("allreduce/rabenseifner", 8);
  expect_terms(folded, {plain.alpha + 1, 2, plain.bytes + m / 2.0, m / 2.0 + m, plain.combined + m / 2.0});
}

TEST(Terms, NeedNoSchedules) {
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) {
      const Terms t = terms_of({a, c, {}}, 1 << 20, m);
      EXPECT_GE(t.alpha, 0) << a->id(c);
      EXPECT_GT(t.alpha + t.alpha_uni, 0) << a->id(c);
    }
  }
}

TEST(Seconds, AddUp) {
  const Terms t{.alpha = 3, .alpha_uni = 2, .bytes = 1000, .bytes_uni = 500, .combined = 100};
  const Machine any{.alpha_s = 1, .beta_s_per_byte = 0.1, .gamma_s_per_byte = 0.01, .f_alpha = 0.5, .f_beta = 0.6};
  EXPECT_DOUBLE_EQ(seconds(t, any), 3 + 2 * 0.5 + 100 + 30 + 1);
}

std::int64_t segments(const Selection& s) { return s.params.at("segments"); }

TEST(Segments, OfTheRoundOptimalBroadcastFollowTheClosedForm) {
  for (const Rank p : {5, 16, 36, 1000}) {
    const double q = std::ceil(std::log2(static_cast<double>(p)));
    for (const Count bytes : {Count{1000}, Count{100'000}, Count{1} << 20, Count{1} << 26}) {
      const double ideal = std::sqrt((q - 1) * machine.beta_s_per_byte * static_cast<double>(bytes) / machine.alpha_s);
      const auto n = static_cast<double>(
          segments(with_best_segments(parse_selection("bcast/circulant_pipelined"), p, bytes, machine)));
      EXPECT_GE(n, std::floor(std::clamp(ideal, 1.0, 1024.0))) << p << " " << bytes;
      EXPECT_LE(n, std::ceil(std::clamp(ideal, 1.0, 1024.0))) << p << " " << bytes;
    }
  }
}

TEST(Segments, AreTheBestOfAll) {
  Machine one_way = machine;
  one_way.f_alpha = 0.7;
  one_way.f_beta = 0.6;
  int pipelines = 0;
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) {
      if (a->params.empty() || a->params[0].name != "segments") continue;
      ++pipelines;
      for (const Machine& on : {machine, one_way}) {
        for (const Rank p : {2, 3, 7, 24, 33}) {
          for (const Count bytes : {Count{0}, Count{5000}, Count{1} << 20, Count{1} << 27}) {
            const auto time = [&](std::int64_t n) {
              return seconds(terms_of({a, c, {{"segments", n}}}, p, bytes), on);
            };
            double least = time(1);
            for (std::int64_t n = 2; n <= most_segments; ++n) least = std::min(least, time(n));
            const std::int64_t chosen = segments(with_best_segments({a, c, {}}, p, bytes, on));
            EXPECT_LE(time(chosen), least * (1 + 1e-12))
                << a->id(c) << " p=" << p << " bytes=" << bytes << " n=" << chosen;
          }
        }
      }
    }
  }
  EXPECT_GE(pipelines, 8);
  const Selection given = parse_selection("bcast/pipeline:segments=7");
  EXPECT_EQ(segments(with_best_segments(given, 8, m, machine)), 7);
  EXPECT_TRUE(with_best_segments(parse_selection("bcast/binomial"), 8, m, machine).params.empty());
}

TEST(Ranking, IsByTimeAndSaysWhatIsRuledOut) {
  const auto ranking = rank_algorithms(Collective::allreduce, 24, m, {.commutative = false}, machine);
  EXPECT_EQ(ranking.size(), algorithms_of(Collective::allreduce).size());
  std::size_t able = 0;
  while (able < ranking.size() && ranking[able].unmet_need.empty()) ++able;
  ASSERT_GT(able, 3U);
  ASSERT_LT(able, ranking.size());
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    EXPECT_EQ(ranking[i].unmet_need.empty(), i < able);
    if (i > 0 && i < able) {
      EXPECT_LE(ranking[i - 1].time_s, ranking[i].time_s * (1 + 2e-6)) << "ties are by six digits";
    }
    EXPECT_EQ(ranking[i].selection.algorithm->needs.commutative && i < able, false);
  }
  // The model takes the volume-optimal algorithm for long vectors, and the round-optimal one for short vectors.
  const OperatorTraits any{};
  const auto fastest = [&](Count bytes) {
    return rank_algorithms(Collective::allreduce, 24, bytes, any, machine)[0].selection.algorithm->name;
  };
  EXPECT_EQ(fastest(Count{1} << 26), "circulant_optimal");
  EXPECT_EQ(fastest(1), "circulant");
}

TEST(TimeFormula, ReadsAsInTheLiterature) {
  const auto of = [](const char* id) {
    const Selection s = parse_selection(id);
    return time_formula(*s.algorithm, s.collective);
  };
  EXPECT_EQ(of("allreduce/ring"), "T = 2(p-1) alpha + 2(p-1)/p m beta + (p-1)/p m gamma");
  EXPECT_EQ(of("allreduce/binomial"), "T = 2q alpha_uni + 2q m beta_uni + q m gamma");
  EXPECT_EQ(of("barrier/dissemination"), "T = ceil(log2 p) alpha");
  EXPECT_EQ(of("bcast/circulant_pipelined"),
            "T = (rounds - one_way) alpha + one_way alpha_uni + (rounds - one_way)/n m beta + one_way/n m beta_uni\n"
            "one_way <= 2q + [p=2]n\n"
            "rounds = n-1+ceil(log2 p)");
}

}  // namespace
}  // namespace circoll
