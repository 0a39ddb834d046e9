// ExactSum as the element of collectives: every algorithm, every number of ranks to 64 in turns, gives the bits of
// integers of any length. exact_sum and exact_dot do not depend on the number of ranks.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <numeric>
#include <string>

#include "circoll/collectives.hpp"
#include "circoll/exact_sum.hpp"
#include "circoll/local.hpp"
#include "exact_reference.hpp"

namespace circoll {
namespace {

using exact_reference::random_numbers;
using exact_reference::sum_of;

const UserOperator add_sums{[](const void* left, void* inout, Count count) {
                              for (Count i = 0; i < count; ++i) {
                                static_cast<ExactSum*>(inout)[i] += static_cast<const ExactSum*>(left)[i];
                              }
                            },
                            true};

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// One collective by one algorithm, where each rank gives `p` elements of one number each.
void check(const Selection& selection, Rank p) {
  SCOPED_TRACE(selection.text() + " p=" + std::to_string(p));
  const auto ranks = static_cast<std::size_t>(p);
  std::mt19937_64 random(static_cast<std::uint64_t>(p));
  std::vector<std::vector<double>> columns;  // of each element, the numbers of the ranks
  std::vector<std::vector<ExactSum>> given(ranks, std::vector<ExactSum>(ranks)), got = given;
  for (std::size_t e = 0; e < ranks; ++e) {
    columns.push_back(random_numbers<double>(random, ranks));
    for (std::size_t r = 0; r < ranks; ++r) given[r][e].add(columns[e][r]);
  }
  const Collective collective = selection.collective;
  const bool scatters = collective == Collective::reduce_scatter_block || collective == Collective::reduce_scatter;
  const std::vector<Count> ones(ranks, 1);
  std::vector<local::Call> calls;
  for (std::size_t r = 0; r < ranks; ++r) {
    calls.push_back({.collective = collective,
                     .sendbuf = given[r].data(),
                     .recvbuf = got[r].data(),
                     .count = scatters ? 1 : p,
                     .record_bytes = sizeof(ExactSum),
                     .op = add_sums,
                     .root = 0});
    if (collective == Collective::reduce_scatter) calls.back().counts = ones;
  }
  local::World world(p);
  world.run_single_threaded(calls, selection);
  for (std::size_t r = 0; r < ranks; ++r) {
    if (collective == Collective::reduce && r != 0) continue;
    const std::size_t summed = collective == Collective::scan ? r + 1 : collective == Collective::exscan ? r : ranks;
    if (summed == 0) continue;
    for (std::size_t e = 0; e < (scatters ? 1 : ranks); e += 1 + ranks / 8) {
      const std::vector<double>& column = columns[scatters ? r : e];
      const double expected = sum_of(std::vector<double>(column.begin(), column.begin() + static_cast<int>(summed)));
      ASSERT_TRUE(same(got[r][e].to_double(), expected)) << "rank " << r << ", element " << e;
    }
  }
}

TEST(ExactCollectives, EveryAlgorithmSumsExactly) {
  constexpr OperatorTraits traits{.commutative = true, .idempotent = false};
  int served = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const Collective collective : algorithm->collectives) {
      if (!is_reducing(collective)) continue;
      for (const Rank p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 33, 64}) {
        if (!unmet_need(*algorithm, p, traits).empty()) continue;
        check(Selection{algorithm, collective, {}}, p);
        ++served;
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(served, 500);
}

/// The part of rank r of p, where parts have any lengths.
template <typename T>
std::span<const T> part_of(const std::vector<T>& all, Rank r, Rank p) {
  const auto cut = [&](Rank i) {
    return static_cast<std::size_t>(i * i) * all.size() / static_cast<std::size_t>(p * p);
  };
  return std::span(all).subspan(cut(r), cut(r + 1) - cut(r));
}

TEST(ExactCollectives, SumsDoNotDependOnTheNumberOfRanks) {
  std::mt19937_64 random(7);
  for (int c = 0; c < 24; ++c) {
    const auto doubles = random_numbers<double>(random, 3000);
    const auto others = random_numbers<double>(random, 3000);
    const auto floats = random_numbers<float>(random, 3000);
    const double expected = sum_of(doubles);
    const float expected_float = sum_of(floats);
    ExactSum products;
    products.add_products(std::span<const double>(doubles), std::span<const double>(others));
    for (const Rank p : {1, 2, 3, 7, 16}) {
      local::World world(p);
      world.run([&](local::Comm& comm) {
        const auto mine = part_of(doubles, comm.rank(), p);
        EXPECT_TRUE(same(exact_sum(mine, comm), expected)) << "p=" << p;
        EXPECT_EQ(std::bit_cast<std::uint32_t>(exact_sum(part_of(floats, comm.rank(), p), comm)),
                  std::bit_cast<std::uint32_t>(expected_float));
        EXPECT_TRUE(same(exact_dot(mine, part_of(others, comm.rank(), p), comm), products.to_double()));
      });
    }
  }
}

TEST(ExactCollectives, SumNumbersOf16Bits) {
  std::mt19937_64 random(9);
  std::vector<Float16> halves;
  std::vector<BFloat16> brains;
  ExactSum half, brain, dot;
  for (int i = 0; i < 1000; ++i) {
    halves.push_back(Float16::from_bits(static_cast<std::uint16_t>(random() & 0xBFFFU)));
    brains.push_back(BFloat16::from_bits(static_cast<std::uint16_t>(random() & 0xBFFFU)));
    half.add(static_cast<double>(halves.back()));
    brain.add(static_cast<double>(brains.back()));
    dot.add_product(static_cast<double>(halves.back()), static_cast<double>(halves.back()));
  }
  for (const Rank p : {1, 3, 8}) {
    local::World world(p);
    world.run([&](local::Comm& comm) {
      EXPECT_EQ(exact_sum(part_of(halves, comm.rank(), p), comm), half.to_float16());
      EXPECT_EQ(exact_sum(part_of(brains, comm.rank(), p), comm), brain.to_bfloat16());
      const auto mine = part_of(halves, comm.rank(), p);
      EXPECT_EQ(exact_dot(mine, mine, comm), dot.to_float16());
    });
  }
}

TEST(ExactCollectives, ManySumsTravelInTheWordsThatTheyNeed) {
  for (const std::size_t count : {1U, 29U, 30U, 100U}) {
    for (const bool wide : {false, true}) {
      local::World world(5);
      world.run([&](local::Comm& comm) {
        std::vector<ExactSum> sums(count);
        for (std::size_t i = 0; i < count; ++i) {
          const double scale = wide ? std::ldexp(1.0, 37 * static_cast<int>(i % 50) - 900) : 1.0;
          sums[i].add(scale * static_cast<double>(comm.rank() - 1));
          if (wide) sums[i].add_product(-0x1p-1000, 0x1p-1000);
        }
        exact_sum(sums, comm);
        for (std::size_t i = 0; i < count; ++i) {
          ExactSum expected;
          for (Rank r = 0; r < 5; ++r) {
            const double scale = wide ? std::ldexp(1.0, 37 * static_cast<int>(i % 50) - 900) : 1.0;
            expected.add(scale * static_cast<double>(r - 1));
            if (wide) expected.add_product(-0x1p-1000, 0x1p-1000);
          }
          EXPECT_EQ(sums[i], expected);
        }
      });
    }
  }
}

/// As an element of the typed API, with + as the operator.
TEST(ExactCollectives, PlusIsTheOperator) {
  local::World world(4);
  world.run([](local::Comm& comm) {
    std::array<ExactSum, 2> mine, all;
    mine[0].add(comm.rank() == 1 ? 1e300 : comm.rank() == 3 ? -1e300 : 1.0);
    allreduce(mine, all, commutative(std::plus<>()), comm);
    EXPECT_EQ(all[0].to_double(), 2.0);
    all = {};
    Request request = allreduce(mine, all, commutative(std::plus<>()), nonblocking(comm));
    request.wait();
    EXPECT_EQ(all[0].to_double(), 2.0);
    scan(mine, all, std::plus<>(), comm);
    constexpr std::array prefixes{1.0, 1e300, 1e300, 2.0};
    EXPECT_EQ(all[0].to_double(), prefixes[static_cast<std::size_t>(comm.rank())]);
  });
}

}  // namespace
}  // namespace circoll
