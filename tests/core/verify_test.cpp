// The verifier proves every algorithm of the registry, and says where a fault lies.
#include "circoll/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "circoll/error.hpp"
#include "verified_case.hpp"

namespace circoll {
namespace {

TEST(Refutations, ExscanLeavesTheReceiveBufferOfRankZero) {
  const Selection s = parse_selection("exscan/doubling_123");
  const Shape shape{.size = 4, .in_place = true};
  Case c{build_all_ranks(*s.algorithm, s.collective, shape),
         {},
         {s.algorithm->needs, s.algorithm->guarantees, s.algorithm->cost(shape)}};
  ASSERT_TRUE(c.verify().proven());
  Step copy{.kind = StepKind::copy, .round = c.ranks[0].steps.back().round};
  set_operand(c.ranks[0], copy.dst, {recv_buffer, 0, 1});
  set_operand(c.ranks[0], copy.left, {recv_buffer, 0, 1});
  c.ranks[0].steps.push_back(copy);
  const Verdict verdict = c.verify();
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::send_untouched);
}

/// The refutation of a fault whose place is known names that place.
TEST(Refutations, NameRankStepAndBlock) {
  Case c = make_case({"allgather/circulant_optimal"}, 5, 0);
  Schedule& s = c.ranks[3];
  const auto recv =
      std::find_if(s.steps.begin(), s.steps.end(), [](const Step& step) { return step.kind == StepKind::recv; });
  const auto index = static_cast<StepIndex>(recv - s.steps.begin());
  set_operand(s, recv->dst, {recv_buffer, 0, 1});
  const Verdict verdict = c.verify();
  ASSERT_FALSE(verdict.proven());
  EXPECT_EQ(verdict.refutation->claim, Claim::matching);
  EXPECT_EQ(verdict.refutation->rank, 3);
  EXPECT_EQ(verdict.refutation->step, index);
  EXPECT_EQ(verdict.refutation->block, 0);
  EXPECT_EQ(verdict.refutation->to_string(),
            "allgather/circulant_optimal p=5 root=0 rank=3 step=" + std::to_string(index) +
                " block=0: matching: the send of rank 4, step 1, carries block 4 in its place");
}

/// Parts of a proof as a watch sees them.
std::vector<double> parts_of(const std::string& id, Rank p, ProofMethod method) {
  const Selection s = parse_selection(id);
  std::vector<double> parts;
  const Verdict verdict = verify_algorithm(*s.algorithm, s.collective, {.size = p}, {}, method,
                                           [&](double part) { parts.push_back(part); });
  EXPECT_TRUE(verdict.proven());
  return parts;
}

TEST(Watch, SeesPartsThatGrow) {
  for (const auto& [id, method] :
       {std::pair{"allreduce/ring", ProofMethod::rotation}, std::pair{"allreduce/ring", ProofMethod::all_ranks},
        std::pair{"allreduce/rabenseifner", ProofMethod::automatic}}) {
    const std::vector<double> parts = parts_of(id, 12, method);
    ASSERT_GT(parts.size(), 12U);
    EXPECT_TRUE(std::ranges::is_sorted(parts)) << id;
    EXPECT_GE(parts.front(), 0);
    EXPECT_LE(parts.back(), 1);
    EXPECT_GT(parts.back(), 0.9);
  }
}

TEST(Watch, EndsAProofByAnException) {
  const Selection s = parse_selection("allreduce/rabenseifner");
  for (const double end : {0.0, 0.15, 0.25, 0.45, 0.7, 0.95}) {
    double last = -1;
    EXPECT_THROW((void)verify_algorithm(*s.algorithm, s.collective, {.size = 24}, {}, ProofMethod::automatic,
                                        [&](double part) {
                                          last = part;
                                          if (part >= end) throw std::string("enough");
                                        }),
                 std::string);
    EXPECT_GE(last, end);
    EXPECT_LT(last, end + 0.05);
  }
}

TEST(Watch, EndsProofsOfAllThreads) {
  std::atomic<std::int64_t> calls{0};
  VerifyRange range{.first = 20, .last = 60};
  range.jobs = 3;
  range.watch = [&](double) {
    if (++calls > 1000) throw std::string("enough");
  };
  EXPECT_THROW((void)verify_range({parse_selection("allreduce/rabenseifner")}, range), std::string);
  EXPECT_LT(calls, 1010);
}

TEST(Watch, ChangesNoVerdict) {
  const Selection s = parse_selection("reduce/circulant_tree");
  for (const Rank p : {1, 7, 16}) {
    const Shape shape{.size = p, .root = p / 2};
    const Verdict seen = verify_algorithm(*s.algorithm, s.collective, shape, {}, ProofMethod::automatic, [](double) {});
    const Verdict alone = verify_algorithm(*s.algorithm, s.collective, shape);
    EXPECT_EQ(seen.counted, alone.counted);
    EXPECT_EQ(seen.messages, alone.messages);
    EXPECT_TRUE(seen.proven() && alone.proven());
  }
}

TEST(Refutations, AreOfTheSmallestSize) {
  // An allreduce that forgets rank 5 is right for p <= 5.
  static const Algorithm broken{
      .collectives = {Collective::bcast},
      .name = "broken",
      .cost =
          [](const Shape& shape) {
            return Cost{.rounds = shape.size - 1, .sent = shape.size - 1, .received = shape.size > 1 ? 1 : 0};
          },
      .path = [](const Shape& s) { return CriticalPath{.one_way = s.size - 1, .one_way_volume = s.size - 1}; },
      .build =
          [](Builder& b) {
            for (Rank r = 1; r < b.size(); ++r) {
              if (b.rank() == 0 && r != 5) b.send(r, b.output());
              if (b.rank() == r && r != 5) b.recv(0, b.output());
              b.next_round();
            }
          },
  };
  const auto verdicts =
      verify_range({{&broken, Collective::bcast, {}}}, {.first = 1, .last = 40, .roots = {0}, .jobs = 3});
  ASSERT_TRUE(verdicts[0].refutation.has_value());
  EXPECT_EQ(verdicts[0].refutation->size, 6);
  EXPECT_EQ(verdicts[0].refutation->rank, 5);
  EXPECT_EQ(verdicts[0].refutation->claim, Claim::result);
  EXPECT_EQ(verdicts[0].instances, 5);
  const auto some =
      verify_range({{&broken, Collective::bcast, {}}}, {.first = 2, .last = 40, .only = {2, 5, 11}, .roots = {0}});
  ASSERT_TRUE(some[0].refutation.has_value());
  EXPECT_EQ(some[0].refutation->size, 11);
  EXPECT_EQ(some[0].instances, 2);
}

TEST(Refutations, AreFoundForValuesThatAreNoDefaults) {
  static const Algorithm broken{
      .collectives = {Collective::bcast},
      .name = "broken",
      .params = {{.name = "fanout", .minimum = 1, .maximum = 8, .fallback = 1, .summary = "wrong from 7 on"}},
      .cost =
          [](const Shape& shape) {
            return Cost{.rounds = shape.size - 1, .sent = shape.size - 1, .received = shape.size > 1 ? 1 : 0};
          },
      .path = [](const Shape& s) { return CriticalPath{.one_way = s.size - 1, .one_way_volume = s.size - 1}; },
      .build =
          [](Builder& b) {
            for (Rank r = 1; r < b.size(); ++r) {
              const bool forgotten = b.param("fanout", 1) == 7 && r == 2;
              if (b.rank() == 0 && !forgotten) b.send(r, b.output());
              if (b.rank() == r && !forgotten) b.recv(0, b.output());
              b.next_round();
            }
          },
  };
  const VerifyRange range{.first = 2, .last = 5, .roots = {0}};
  const RangeVerdict sampled = verify_range({{&broken, Collective::bcast, {}}}, range).front();
  ASSERT_TRUE(sampled.refutation.has_value());
  EXPECT_EQ(sampled.refutation->size, 3);
  EXPECT_EQ(sampled.refutation->params, (Params{{"fanout", 7}}));
  const RangeVerdict given = verify_range({{&broken, Collective::bcast, {{"fanout", 3}}}}, range).front();
  EXPECT_FALSE(given.refutation.has_value());
  EXPECT_EQ(given.instances, 4);
}

// Sanitizers make every access slow, so their builds try fewer p, but not fewer algorithms.
#ifdef CIRCOLL_SANITIZED
constexpr Rank last_size = 12;
#else
constexpr Rank last_size = 24;
#endif

TEST(Family, IsProven) {
  std::vector<Selection> all;
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) all.push_back({a, c, {}});
  }
  for (const RangeVerdict& v : verify_range(all, {.first = 1, .last = last_size, .all_roots = true, .jobs = 2})) {
    EXPECT_FALSE(v.refutation.has_value()) << v.refutation->to_string();
    std::int64_t sizes = 0;
    for (Rank p = 1; p <= last_size; ++p) {
      const OperatorTraits any{.commutative = true, .idempotent = true};
      sizes += unmet_need(*parse_selection(v.id).algorithm, p, any).empty() ? 1 : 0;
    }
    EXPECT_GE(sizes, 4) << v.id;
    EXPECT_GE(v.instances, sizes) << v.id;
  }
}

/// All values of ranks on a node, radix of trees and number of chains together, for every algorithm. (Segments vary in
/// every family.)
TEST(Family, IsProvenWithOtherParameters) {
  std::vector<Selection> all;
  for (const Collective c : all_collectives) {
    for (const Algorithm* a : algorithms_of(c)) {
      std::vector<Selection> some{{a, c, {}}};
      for (const ParamDeclaration& param : a->params) {
        if (param.name == "segments") continue;
        std::vector<Selection> more;
        for (const Selection& selection : some) {
          for (const std::int64_t value : {1, 2, 3, 7}) {
            if (value < param.minimum || value > param.maximum) continue;
            more.push_back(selection);
            more.back().params.insert_or_assign(std::string(param.name), value);
          }
        }
        some = std::move(more);
      }
      if (!some.front().params.empty()) all.insert(all.end(), some.begin(), some.end());
    }
  }
  std::set<std::string> algorithms;
  for (const Selection& s : all) algorithms.insert(s.id());
  EXPECT_TRUE(algorithms.contains("gather/leaders") && algorithms.contains("bcast/knomial"));
  for (const RangeVerdict& v : verify_range(all, {.first = 1, .last = last_size, .all_roots = true, .jobs = 2})) {
    EXPECT_FALSE(v.refutation.has_value()) << v.refutation->to_string();
    EXPECT_GE(v.instances, last_size) << v.id;
  }
}

TEST(Family, CountsWhatThePapersSay) {
  for (Rank p = 2; p <= 70; ++p) {
    std::int64_t q = 0;
    while ((Rank{1} << q) < p) ++q;
    const auto counted = [&](const char* id, Params params = {}) {
      const Selection s = parse_selection(id);
      const Verdict v = verify_algorithm(*s.algorithm, s.collective, {.size = p, .params = std::move(params)});
      EXPECT_TRUE(v.proven()) << v.refutation->to_string();
      return v;
    };
    EXPECT_EQ(counted("reduce_scatter_block/circulant").counted.sent, (1 << q) - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant").counted.reduced, p - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant_optimal").counted.sent, p - 1);
    EXPECT_EQ(counted("reduce_scatter_block/circulant_optimal").counted.rounds, q);
    EXPECT_EQ(counted("allgather/circulant_optimal").messages, p * q);
    EXPECT_EQ(counted("allreduce/circulant_optimal").counted.sent, 2 * (p - 1));
    EXPECT_EQ(counted("reduce/circulant_tree").messages, p - 1);
    EXPECT_EQ(counted("gather/circulant").messages, p - 1);
    for (const std::int64_t n : {1, 5, 17}) {
      EXPECT_EQ(counted("bcast/circulant_pipelined", {{"segments", n}}).counted.rounds, n - 1 + q);
      EXPECT_EQ(counted("bcast/circulant_pipelined", {{"segments", n}}).messages, n * (p - 1));
      EXPECT_EQ(counted("reduce/circulant_pipelined", {{"segments", n}}).reductions, n * (p - 1));
    }
  }
}

}  // namespace
}  // namespace circoll
