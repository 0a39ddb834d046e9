// Bit classes against executions: an operator that does not associate makes every order of operands visible.
#include "verify/bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "exec/local/job.hpp"

namespace circoll {
namespace {

#ifdef CIRCOLL_SANITIZED
constexpr Rank largest = 5;
#else
constexpr Rank largest = 9;
#endif

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// An operator whose values tell any two expressions apart. If it commutes, expressions with exchanged operands are the
/// same. It always says that it commutes, so that all algorithms take it.
UserOperator telling(BitsOf operators) {
  if (operators == BitsOf::any) {
    return {[](const void* left, void* inout, Count elements) {
              const auto* l = static_cast<const std::uint64_t*>(left);
              auto* r = static_cast<std::uint64_t*>(inout);
              for (Count i = 0; i < elements; ++i) r[i] = mixed(3 * l[i] + mixed(r[i] + 1));
            },
            true};
  }
  return {[](const void* left, void* inout, Count elements) {
            const auto* l = static_cast<const std::uint64_t*>(left);
            auto* r = static_cast<std::uint64_t*>(inout);
            for (Count i = 0; i < elements; ++i) r[i] = mixed(mixed(l[i] + 1) + mixed(r[i] + 1));
          },
          true};
}

/// The results of all ranks, one after another, for several lengths, because parts of two cuts may end together.
std::vector<std::byte> results(const Selection& selection, Rank p, Rank root, const UserOperator& op) {
  local::Job job;
  job.collective = selection.collective;
  job.size = p;
  job.root = root;
  job.type = Type::uint64;
  job.op = op;
  job.fill = [](Rank rank, std::span<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size() / sizeof(std::uint64_t); ++i) {
      const std::uint64_t value = mixed(1000 * static_cast<std::uint64_t>(rank) + i + 7);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  };
  std::vector<std::byte> all;
  for (const Count count : {61, 64, 71, 86}) {
    job.counts = {count};
    for (const auto& output : local::execute_all(job, selection).outputs) {
      all.insert(all.end(), output.begin(), output.end());
    }
  }
  return all;
}

std::vector<Selection> selections(Collective collective, Rank p) {
  std::vector<Selection> all;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = false}).empty()) continue;
    if (algorithm->param("segments") == nullptr) {
      all.push_back({algorithm, collective, {}});
    } else {
      for (const std::int64_t segments : {1, 2, 3}) all.push_back({algorithm, collective, {{"segments", segments}}});
    }
  }
  return all;
}

/// Compares every two algorithms of a collective. They have the same class if and only if they have the same bits.
void compare_all(Collective collective, Rank p, Rank root, BitsOf operators) {
  const UserOperator op = telling(operators);
  const std::vector<Selection> all = selections(collective, p);
  std::vector<BitClass> classes;
  std::vector<std::vector<std::byte>> bits;
  for (const Selection& selection : all) {
    const Shape shape{.size = p, .root = root, .params = selection.params};
    classes.push_back(bit_class(*selection.algorithm, collective, shape, operators));
    bits.push_back(results(selection, p, root, op));
    // Messages that are combined as they arrive make no difference.
    EXPECT_EQ(classes.back(), bit_class(*selection.algorithm, collective, shape, operators,
                                        [](Rank rank, Rank peer) { return (rank + peer) % 3 != 0; }));
  }
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_EQ(classes[a] == classes[b], bits[a] == bits[b])
          << all[a].text() << " and " << all[b].text() << ", p " << p << ", root " << root << ": "
          << classes[a].expression << ", " << classes[b].expression;
    }
  }
}

TEST(Bits, SameClassesAreSameBits) {
  for (const Collective collective : all_collectives) {
    if (!is_reducing(collective)) continue;
    for (Rank p = 1; p <= largest; ++p) {
      for (const Rank root : is_rooted(collective) ? std::vector<Rank>{0, p - 1} : std::vector<Rank>{0}) {
        compare_all(collective, p, root, BitsOf::commuting);
        compare_all(collective, p, root, BitsOf::any);
      }
    }
  }
}

BitClass of(const std::string& id, Rank p, BitsOf operators = BitsOf::commuting, Rank root = 0, Params params = {}) {
  const Selection selection = parse_selection(id);
  return bit_class(*selection.algorithm, selection.collective,
                   Shape{.size = p, .root = root, .params = std::move(params)}, operators);
}

TEST(Bits, ExpressionsAreThoseOfTheLiterature) {
  EXPECT_EQ(of("reduce/binomial", 4).expression, "(0+1)+(2+3)");
  EXPECT_EQ(of("allreduce/recursive_doubling", 8).expression, "((0+1)+(2+3))+((4+5)+(6+7))");
  EXPECT_EQ(of("scan/linear", 5).expression, "(((0+1)+2)+3)+4");
  EXPECT_EQ(of("reduce/linear", 1).expression, "0");
}

TEST(Bits, RingsCombineEachBlockInAnotherOrder) {
  EXPECT_FALSE(of("allreduce/ring", 4).one_expression);
  EXPECT_TRUE(of("allreduce/recursive_doubling", 4).one_expression);
}

TEST(Bits, SegmentsOfOneExpressionAreNoDifference) {
  EXPECT_EQ(of("reduce/pipeline", 5, BitsOf::any, 0, {{"segments", 2}}),
            of("reduce/pipeline", 5, BitsOf::any, 0, {{"segments", 7}}));
}

TEST(Bits, TwoRanksHaveOneOrderIfOperandsCommute) {
  for (const Selection& selection : selections(Collective::allreduce, 2)) {
    EXPECT_EQ(bit_class(*selection.algorithm, Collective::allreduce, Shape{.size = 2}), of("allreduce/linear", 2))
        << selection.text();
  }
}

TEST(Bits, MovementsHaveNone) { EXPECT_THROW((void)of("allgather/ring", 4), Error); }

TEST(Bits, ManyRanksAreCutOff) {
  const BitClass many = of("allreduce/recursive_doubling", 128);
  EXPECT_LT(many.expression.size(), 200U);
  EXPECT_TRUE(many.expression.ends_with("..."));
}

}  // namespace
}  // namespace circoll
