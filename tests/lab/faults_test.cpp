// The blocks that survivors hold when ranks fail: the tables of the literature's algorithms, closed forms, and the
// search for unions.
#include "faults/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "faults/faults_json.hpp"
#include "patterns/composed.hpp"
#include "repair/cover.hpp"

namespace circoll {
namespace {

/// An allreduce by pairwise exchange and ring, which the registry does not have.
FaultAnalysis pairwise_and_ring(Rank p, Keep keep) {
  std::vector<Schedule> ranks;
  for (Rank r = 0; r < p; ++r) {
    Builder b("allreduce/pairwise_and_ring", Collective::allreduce, {.size = p, .rank = r});
    patterns::allreduce_by_parts(b, "reduce_scatter/pairwise", "allgatherv/ring");
    ranks.push_back(std::move(b).finish());
  }
  return {std::move(ranks), keep, false};
}

FaultAnalysis analysis_of(const std::string& name, Rank p, Keep keep, bool in_place = false) {
  if (name == "pairwise") return pairwise_and_ring(p, keep);
  const Selection s = parse_selection("allreduce/" + name);
  return {*s.algorithm, s.collective, {.size = p, .in_place = in_place, .params = s.params}, keep};
}

/// "S", "F1": the class of one failure, with the copies if all contributions can be put together.
std::string cell(const FaultAnalysis& analysis, std::uint32_t k, Rank f) {
  const FailureOutcome outcome = analysis.after(k, std::array{f});
  std::string text(1, to_string(outcome.what)[0]);
  if (is_full(outcome.what)) text += std::to_string(outcome.copies);
  return text;
}

/// The cells of a table, k = 0 .. rounds. Where failed ranks differ only in copies, a cell has the fewest copies. Where
/// they differ in class, it has each rank's class.
std::string row(const FaultAnalysis& analysis) {
  std::string text;
  for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
    std::vector<std::string> cells;
    std::string classes;
    for (Rank f = 0; f < analysis.size(); ++f) {
      cells.push_back(cell(analysis, k, f));
      classes += cells.back()[0];
    }
    const bool one_class = std::all_of(classes.begin(), classes.end(), [&](char c) { return c == classes[0]; });
    text += (k > 0 ? " " : "") + (one_class ? *std::min_element(cells.begin(), cells.end()) : classes);
  }
  return text;
}

const std::vector<std::string> names{"recursive_doubling", "binomial",         "rabenseifner", "ring",
                                     "pairwise",           "circulant_optimal"};

TEST(Faults, OneFailureAmongFourInOneVector) {
  const std::map<std::string, std::string> expected{
      {"recursive_doubling", "S F1 F3"}, {"binomial", "S SFSF SFFF F1 F3"}, {"rabenseifner", "S M M F1 F3"},
      {"ring", "S M M M F1 F2 F3"},      {"pairwise", "S M M M F1 F2 F3"},  {"circulant_optimal", "S M M F1 F3"}};
  for (const std::string& name : names) {
    EXPECT_EQ(row(analysis_of(name, 4, Keep::buf)), expected.at(name)) << name;
    if (name == "pairwise") continue;
    EXPECT_EQ(row(analysis_of(name, 4, Keep::buf, true)), expected.at(name)) << name;
  }
}

TEST(Faults, SendBuffersMakeMixedFailuresSurvivors) {
  for (const Rank p : {4, 8}) {
    for (const std::string& name : names) {
      const FaultAnalysis buf = analysis_of(name, p, Keep::buf);
      const FaultAnalysis keep = analysis_of(name, p, Keep::keep);
      for (std::uint32_t k = 0; k <= buf.rounds(); ++k) {
        for (Rank f = 0; f < p; ++f) {
          const FailureClass before = buf.after(k, std::array{f}).what;
          const FailureClass expected = before == FailureClass::full ? FailureClass::both : FailureClass::surv;
          EXPECT_EQ(keep.after(k, std::array{f}).what, expected) << name << " p=" << p << " k=" << k << " f=" << f;
          EXPECT_NE(before, FailureClass::none);
        }
      }
    }
  }
}

TEST(Faults, LiveValuesAloneSaveLessThanStaleOnes) {
  const std::map<std::string, std::string> expected{
      {"recursive_doubling", "S F1 F3"}, {"binomial", "S NFNF NFFF F1 F3"}, {"rabenseifner", "S N N F1 F3"},
      {"ring", "S N N N F1 F2 F3"},      {"pairwise", "S N N N F1 F2 F3"},  {"circulant_optimal", "S N N F1 F3"}};
  for (const std::string& name : names) EXPECT_EQ(row(analysis_of(name, 4, Keep::live)), expected.at(name)) << name;
}

std::vector<int> guaranteed_copies(const FaultAnalysis& analysis) {
  std::vector<int> copies;
  for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
    copies.push_back(analysis.after(k, std::array{Rank{0}}).copies);
    for (Rank f = 1; f < analysis.size(); ++f)
      copies.back() = std::min(copies.back(), analysis.after(k, std::array{f}).copies);
  }
  return copies;
}

TEST(Faults, GuaranteedCopiesAmongEight) {
  const std::vector<int> halves{0, 0, 0, 0, 1, 3, 7};
  const std::vector<int> ring{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(guaranteed_copies(analysis_of("recursive_doubling", 8, Keep::buf)), (std::vector<int>{0, 1, 3, 7}));
  EXPECT_EQ(guaranteed_copies(analysis_of("rabenseifner", 8, Keep::buf)), halves);
  EXPECT_EQ(guaranteed_copies(analysis_of("circulant_optimal", 8, Keep::buf)), halves);
  EXPECT_EQ(guaranteed_copies(analysis_of("ring", 8, Keep::buf)), ring);
  EXPECT_EQ(guaranteed_copies(analysis_of("pairwise", 8, Keep::buf)), ring);
}

TEST(Faults, BinomialTreeDependsOnWhoFails) {
  for (const Rank p : {4, 5, 6, 7, 8, 13, 16}) {
    const FaultAnalysis analysis = analysis_of("binomial", p, Keep::buf);
    const auto levels = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(p - 1)));
    ASSERT_EQ(analysis.rounds(), 2 * levels);
    for (std::uint32_t k = 0; k <= 2 * levels; ++k) {
      for (Rank f = 0; f < p; ++f) {
        const bool full =
            f == 0 ? k >= levels + 1 : k > static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(f)));
        EXPECT_EQ(analysis.after(k, std::array{f}).what, full ? FailureClass::full : FailureClass::surv)
            << "p=" << p << " k=" << k << " f=" << f;
      }
    }
  }
}

/// All sets of up to `most` failed ranks, except the set of all ranks.
std::vector<std::vector<Rank>> failures_of(Rank p, int most) {
  std::vector<std::vector<Rank>> failures;
  for (std::uint64_t set = 1; set + 1 < std::uint64_t{1} << p; ++set) {
    if (std::popcount(set) > most) continue;
    failures.emplace_back();
    for (Rank f = 0; f < p; ++f) {
      if ((set >> f & 1) != 0) failures.back().push_back(f);
    }
  }
  return failures;
}

TEST(Faults, RecursiveDoublingLosesWholeAlignedGroupsOnly) {
  const FaultForms* forms = find_fault_forms("allreduce/recursive_doubling");
  ASSERT_NE(forms, nullptr);
  for (const Rank p : {4, 8, 16}) {
    for (const Keep keep : {Keep::buf, Keep::keep}) {
      const FaultAnalysis analysis = analysis_of("recursive_doubling", p, keep);
      for (const std::vector<Rank>& failed : failures_of(p, p == 16 ? 4 : 8)) {
        for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
          ASSERT_EQ(is_full(analysis.after(k, failed).what), forms->is_full(p, k, failed)) << "p=" << p << " k=" << k;
        }
      }
    }
  }
}

TEST(Faults, FewestPiecesOfARepairAmongEight) {
  const std::map<std::string, std::string> expected{{"recursive_doubling", "S7 F4 F2 F1"},
                                                    {"binomial", "S7 S4 S3 S3 F1 F1 F1"},
                                                    {"rabenseifner", "S7 S4 S4 S6 F1 F1 F1"},
                                                    {"circulant_optimal", "S7 S4 S4 S6 F1 F1 F1"},
                                                    {"ring", "S7 S7 S7 S7 S7 S7 S7 S7 F1 F1 F1 F1 F1 F1 F1"},
                                                    {"pairwise", "S7 S7 S7 S7 S7 S7 S7 S7 F1 F1 F1 F1 F1 F1 F1"}};
  for (const std::string& name : names) {
    const FaultAnalysis analysis = analysis_of(name, 8, Keep::keep);
    std::string text;
    for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
      int most = 0;
      char what = 'S';
      for (Rank f = 0; f < 8; ++f) {
        const FailureOutcome outcome = analysis.after(k, std::array{f});
        if (outcome.pieces <= most) continue;
        most = outcome.pieces;
        what = is_full(outcome.what) ? 'F' : 'S';
      }
      text += (k > 0 ? " " : "") + (what + std::to_string(most));
    }
    EXPECT_EQ(text, expected.at(name)) << name;
  }
}

TEST(Faults, ADeathWithinARoundLeavesWhatItsMessagesDecide) {
  const std::map<std::string, std::string> expected{{"recursive_doubling", "SURV/FULL FULL"},
                                                    {"binomial", "SURV/FULL SURV/FULL SURV/FULL FULL"},
                                                    {"rabenseifner", "MIX/SURV MIX MIX/FULL FULL"},
                                                    {"ring", "MIX/SURV MIX MIX MIX/FULL FULL FULL"},
                                                    {"pairwise", "MIX/SURV MIX MIX MIX/FULL FULL FULL"},
                                                    {"circulant_optimal", "MIX/SURV MIX MIX/FULL FULL"}};
  for (const std::string& name : names) {
    const FaultAnalysis analysis = analysis_of(name, 4, Keep::buf);
    std::string text;
    for (std::uint32_t k = 0; k < analysis.rounds(); ++k) {
      std::vector<FailureClass> classes;
      for (Rank f = 0; f < 4; ++f) {
        for (const Delivery& d : analysis.within(k, std::array{f})) classes.push_back(d.outcome.what);
      }
      std::sort(classes.begin(), classes.end());
      classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
      if (k > 0) text += ' ';
      for (std::size_t i = 0; i < classes.size(); ++i) text += (i > 0 ? "/" : "") + std::string(to_string(classes[i]));
    }
    EXPECT_EQ(text, expected.at(name)) << name;
  }
}

TEST(Faults, SurvivorsThatGoOnLoseNothingIfTheyKeepWhatTheyGave) {
  for (const std::string& name : names) {
    for (const Rank p : {4, 8}) {
      const FaultAnalysis analysis = analysis_of(name, p, Keep::keep);
      for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) {
        for (Rank f = 0; f < p; ++f) {
          EXPECT_EQ(analysis.ahead(k, std::array{f}).what, analysis.after(k, std::array{f}).what)
              << name << " p=" << p << " k=" << k << " f=" << f;
        }
      }
    }
  }
  // The ring's scratch memory has three blocks in turn, so that blocks that were sent to the failed rank are
  // overwritten.
  const FaultAnalysis ring = analysis_of("ring", 8, Keep::buf);
  EXPECT_EQ(ring.after(1, std::array{Rank{3}}).what, FailureClass::mix);
  EXPECT_EQ(ring.ahead(1, std::array{Rank{3}}).what, FailureClass::none);
  EXPECT_EQ(ring.ahead(9, std::array{Rank{3}}).what, FailureClass::full);
}

/// The ranks that fail: all, or some where rounds are many and ranks alike.
std::vector<Rank> failing(const FaultAnalysis& analysis) {
  const Rank p = analysis.size();
  if (p > 32 && analysis.rounds() > 20) return {0, 1, p / 2, p - 1};
  std::vector<Rank> all;
  for (Rank f = 0; f < p; ++f) all.push_back(f);
  return all;
}

void check_forms(const FaultForms& forms, const FaultAnalysis& analysis, std::uint32_t k) {
  const Rank p = analysis.size();
  int fewest = static_cast<int>(p);
  for (const Rank f : failing(analysis)) {
    const std::array failed{f};
    const FailureOutcome outcome = analysis.after(k, failed);
    fewest = std::min(fewest, outcome.copies);
    const std::string where =
        std::string(forms.id) + " p=" + std::to_string(p) + " k=" + std::to_string(k) + " f=" + std::to_string(f);
    if (forms.lost_blocks != nullptr) {
      ASSERT_EQ(outcome.lost, forms.lost_blocks(p, k)) << where;
    }
    if (forms.is_full != nullptr) {
      ASSERT_EQ(is_full(outcome.what), forms.is_full(p, k, failed)) << where;
    }
  }
  if (forms.fewest_copies != nullptr) {
    ASSERT_EQ(fewest, forms.fewest_copies(p, k)) << forms.id << " p=" << p << " k=" << k;
  }
}

#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 32;
#else
constexpr Rank last_size = 64;
#endif

TEST(Faults, ClosedFormsHoldForUpTo64Ranks) {
  for (const FaultForms& forms : fault_forms()) {
    const Selection s = parse_selection(forms.id);
    std::int64_t sizes = 0;
    for (Rank p = 2; p <= last_size; ++p) {
      if (!forms.holds(p)) continue;
      ++sizes;
      const FaultAnalysis analysis(*s.algorithm, s.collective, {.size = p}, Keep::buf, {.to_minimize = 0});
      for (std::uint32_t k = 0; k <= analysis.rounds(); ++k) ASSERT_NO_FATAL_FAILURE(check_forms(forms, analysis, k));
    }
    EXPECT_EQ(sizes, forms.where.empty() ? last_size - 1 : std::bit_width(std::uint64_t{last_size}) - 1) << forms.id;
  }
}

/// For every algorithm: survivors have less at a lower level, and in the end all that they need.
TEST(Faults, EveryAlgorithmEndsWithEverything) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      for (const Rank p : {2, 5, 8}) {
        if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
        const Shape shape{.size = p};
        std::vector<FaultAnalysis> levels;
        for (const Keep keep : {Keep::live, Keep::buf, Keep::keep, Keep::log})
          levels.emplace_back(*algorithm, collective, shape, keep);
        for (std::uint32_t k = 0; k <= levels[0].rounds(); ++k) {
          for (Rank f = 0; f < p; ++f) {
            const std::string where = algorithm->id(collective) + " p=" + std::to_string(p) +
                                      " k=" + std::to_string(k) + " f=" + std::to_string(f);
            for (std::size_t i = 0; i < levels.size(); ++i) {
              const FailureOutcome outcome = levels[i].after(k, std::array{f});
              ASSERT_NE(outcome.what, FailureClass::unknown) << where;
              if (i == 0) continue;
              const FailureOutcome less = levels[i - 1].after(k, std::array{f});
              ASSERT_TRUE(!is_full(less.what) || is_full(outcome.what)) << where;
              ASSERT_TRUE(outcome.lost <= less.lost && outcome.copies >= less.copies) << where;
            }
            const FailureClass least = levels[0].after(k, std::array{f}).what;
            if (k == levels[0].rounds() && k > 0 && !(is_rooted(collective) && f == 0)) {
              ASSERT_TRUE(is_full(least)) << where;
            }
          }
        }
      }
    }
  }
}

TEST(Faults, MisuseIsNamed) {
  const Selection s = parse_selection("allreduce/ring");
  const FaultAnalysis analysis(*s.algorithm, s.collective, {.size = 4}, Keep::buf);
  EXPECT_THROW((void)analysis.after(0, {}), Error);
  EXPECT_THROW((void)analysis.after(0, std::array<Rank, 1>{4}), Error);
  EXPECT_THROW((void)analysis.after(0, std::array<Rank, 1>{-1}), Error);
  EXPECT_THROW((void)analysis.after(0, std::array<Rank, 2>{1, 1}), Error);
  EXPECT_THROW((void)analysis.after(0, std::array<Rank, 4>{0, 1, 2, 3}), Error);
  EXPECT_THROW((void)analysis.after(7, std::array<Rank, 1>{1}), Error);
  EXPECT_THROW((void)analysis.within(6, std::array<Rank, 1>{1}), Error);
  EXPECT_THROW(FaultAnalysis(*s.algorithm, s.collective, {.size = 65}, Keep::buf), Error);
}

// The search for unions.

using repair::find_cover;
using repair::Known;
using repair::Set;

/// The least number of sets, by trying all choices; -1 if there is none.
int tried(const std::vector<Set>& sets, Set goal, bool may_overlap) {
  int best = -1;
  for (std::uint64_t choice = 0; choice < std::uint64_t{1} << sets.size(); ++choice) {
    Set all = 0;
    bool fits = true;
    for (std::size_t i = 0; i < sets.size() && fits; ++i) {
      if ((choice >> i & 1) == 0) continue;
      fits = (sets[i] & ~goal) == 0 && (may_overlap || (all & sets[i]) == 0);
      all |= sets[i];
    }
    if (fits && all == goal && (best < 0 || std::popcount(choice) < best)) best = std::popcount(choice);
  }
  return best;
}

TEST(Cover, IsWhatTryingAllChoicesFinds) {
  std::mt19937_64 random(7);
  int found = 0;
  for (int i = 0; i < 4000; ++i) {
    const int elements = 2 + static_cast<int>(random() % 8);
    std::vector<Set> sets(1 + random() % 10);
    for (Set& s : sets) s = (random() & random()) % (Set{1} << elements);
    const Set goal = random() % (Set{1} << elements);
    for (const bool may_overlap : {false, true}) {
      const int expected = tried(sets, goal, may_overlap);
      const auto cover = find_cover(sets, goal, may_overlap, 1 << 20, 1 << 20);
      ASSERT_EQ(cover.possible, expected < 0 ? Known::no : Known::yes);
      ASSERT_EQ(cover.pieces, expected);
      const auto decided = find_cover(sets, goal, may_overlap, 1 << 20, 0);
      ASSERT_EQ(decided.possible, cover.possible);
      found += expected > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(found, 500);
}

TEST(Faults, JsonIsNullWhereThereIsNoNumber) {
  const auto unknown = as_json(FailureOutcome{.what = FailureClass::unknown, .lost = 2});
  EXPECT_EQ(unknown.at("class"), "unknown");
  EXPECT_TRUE(unknown.at("pieces").is_null());
  EXPECT_TRUE(unknown.at("copies").is_null());
  EXPECT_EQ(unknown.at("lost"), 2);
  EXPECT_EQ(as_json(FailureOutcome{.pieces = 3, .copies = 0}).at("copies"), 0);
  EXPECT_EQ(as_json(Repair{.why = "no survivor has it"}).dump(), R"({"why_not":"no survivor has it"})");
  const auto repair = as_json(Repair{.goal = FailureClass::surv, .missing = 1, .cost = {.rounds = 2}});
  EXPECT_EQ(repair.at("rounds"), 2);
  EXPECT_EQ(repair.at("missing"), 1);
  EXPECT_FALSE(repair.contains("why_not"));
}

TEST(Cover, IsUnknownBeyondItsBounds) {
  // All pairs of 23 elements cover no odd number of them.
  std::vector<Set> pairs;
  for (unsigned i = 0; i < 23; ++i) {
    for (unsigned j = 0; j < i; ++j) pairs.push_back(Set{1} << i | Set{1} << j);
  }
  EXPECT_EQ(find_cover(pairs, (Set{1} << 23) - 1, false, 1000, 1000).possible, Known::unknown);
  EXPECT_EQ(find_cover(pairs, (Set{1} << 22) - 1, false, 1000, 1000).possible, Known::yes);
}

}  // namespace
}  // namespace circoll
