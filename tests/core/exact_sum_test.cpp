// Exact sums against integers of any length, on every instruction set of this machine. EXACT_CASES=10000000 makes so
// many random cases of each kind.
#include "circoll/exact.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cstdlib>
#include <numeric>
#include <string>

#include "exact_reference.hpp"
#include "ops/exact.hpp"

namespace circoll {
namespace {

using exact_reference::BigNumber;
using exact_reference::random_numbers;
using exact_reference::sum_of;

std::size_t cases() {
  const char* const wanted = std::getenv("EXACT_CASES");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 6000;
}

template <typename Float>
using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

/// The same bits. All NaN that the library makes are the same one.
template <typename Float>
bool same(Float a, Float b) {
  return std::bit_cast<Bits<Float>>(a) == std::bit_cast<Bits<Float>>(b);
}

template <typename Float>
Float rounded(const ExactSum& sum) {
  if constexpr (sizeof(Float) == 4) return sum.to_float();
  return static_cast<Float>(sum.to_double());
}

template <typename Float>
class ExactSums : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSums, Floats);

TYPED_TEST(ExactSums, AreThoseOfIntegersInEveryOrder) {
  using Float = TypeParam;
  std::mt19937_64 random(1);
  for (std::size_t c = 0; c < cases(); ++c) {
    const std::size_t count = c % 50 == 0 ? 40 + random() % 3000 : 1 + random() % 40;
    std::vector<Float> numbers = random_numbers<Float>(random, count);
    const Float expected = sum_of(numbers);
    ExactSum whole;
    whole.add(std::span<const Float>(numbers));
    ASSERT_TRUE(same(rounded<Float>(whole), expected)) << "case " << c << ", " << count << " numbers";
    std::shuffle(numbers.begin(), numbers.end(), random);
    ExactSum parts, singly;
    const std::size_t cut = random() % (count + 1);
    parts.add(std::span<const Float>(numbers).first(cut));
    ExactSum rest;
    rest.add(std::span<const Float>(numbers).subspan(cut));
    for (const Float number : numbers) singly.add(static_cast<double>(number));
    ASSERT_EQ(whole, parts + rest) << "case " << c;
    ASSERT_EQ(whole, rest + parts) << "case " << c;
    ASSERT_EQ(whole, singly) << "case " << c;
  }
}

TYPED_TEST(ExactSums, OfRowsAreThoseOfIntegers) {
  using Float = TypeParam;
  constexpr Type type = sizeof(Float) == 4 ? Type::float32 : Type::float64;
  for (const ops::Target target : ops::all_targets) {
    if (!ops::is_usable(target)) continue;
    const ops::SumOfRows sum_rows = ops::exact_sum_of_rows(target, type);
    std::mt19937_64 random(2);
    for (std::size_t c = 0; c < cases() / 4; ++c) {
      const std::size_t rows = 1 + random() % (c % 20 == 0 ? 64 : 9), elements = 1 + random() % 37;
      const std::size_t stride = elements + random() % 3;
      std::vector<Float> data(rows * stride);
      std::vector<std::vector<Float>> columns;
      for (std::size_t e = 0; e < elements; ++e) {
        columns.push_back(random_numbers<Float>(random, rows));
        for (std::size_t r = 0; r < rows; ++r) data[r * stride + e] = columns[e][r];
      }
      std::vector<Float> sums(elements + 1, Float{42});
      sum_rows(sums.data(), {.data = data.data(), .stride = stride, .row_count = rows}, elements);
      for (std::size_t e = 0; e < elements; ++e) {
        const Float expected = rows == 1 && std::isnan(columns[e][0]) ? sums[e] : sum_of(columns[e]);
        ASSERT_TRUE(same(sums[e], expected))
            << "target " << ops::name_of(target) << ", case " << c << ", element " << e << " of " << elements << ", "
            << rows << " rows: " << sums[e] << " and not " << expected;
      }
      ASSERT_EQ(sums[elements], Float{42});
    }
  }
}

TYPED_TEST(ExactSums, OfPairsAreThoseOfIntegers) {
  using Float = TypeParam;
  const ReduceKernel add = ops::exact_pair_kernel(sizeof(Float) == 4 ? Type::complex64 : Type::complex128);
  std::mt19937_64 random(3);
  for (std::size_t c = 0; c < cases(); ++c) {
    const std::vector<Float> numbers = random_numbers<Float>(random, 4);
    std::vector<Float> sums(2);
    add(sums.data(), numbers.data(), numbers.data() + 2, 1);
    ASSERT_TRUE(same(sums[0], sum_of(std::vector{numbers[0], numbers[2]})));
    ASSERT_TRUE(same(sums[1], sum_of(std::vector{numbers[1], numbers[3]})));
  }
}

/// Vectors must decide usual data: otherwise the other tests would not see them.
TEST(ExactKernels, DecideUsualNumbers) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> numbers(1024), others(512);
  for (double& number : numbers) number = uniform(random);
  for (double& number : others) number = uniform(random);
  for (const ops::Target target : ops::all_targets) {
    if (!ops::is_usable(target)) continue;
    std::array<double, ops::most_partial_sums> partial{};
    EXPECT_GT(ops::exact_partial_sums(target, numbers, partial), 0U);
    std::array<double, 1024> terms{};
    if (target < ops::Target::avx2) continue;
    EXPECT_TRUE(ops::exact_products(target, std::span<const double>(numbers).first(512), others, terms));
  }
}

TYPED_TEST(ExactSums, OfProductsAreThoseOfIntegers) {
  using Float = TypeParam;
  std::mt19937_64 random(5);
  for (std::size_t c = 0; c < cases() / 20; ++c) {
    const std::size_t count = 1 + random() % 50;
    auto left = random_numbers<Float>(random, count);
    auto right = random_numbers<Float>(random, count);
    ExactSum sum;
    sum.add_products(std::span<const Float>(left), std::span<const Float>(right));
    std::vector<double> special;
    BigNumber exact;
    for (std::size_t i = 0; i < count; ++i) {
      const double a = static_cast<double>(left[i]), b = static_cast<double>(right[i]);
      const bool usual = std::isfinite(a) && std::isfinite(b) && a != 0 && b != 0;
      special.push_back(usual ? 0.0 : a * b);
      if (usual) exact = exact + BigNumber(a) * BigNumber(b);
    }
    const double beside = sum_of(special);
    const double expected = beside != 0 || exact.is_zero() ? beside : exact_reference::nearest<double>(exact);
    ASSERT_TRUE(same(sum.to_double(), expected)) << "case " << c << ", " << count << " products";
    ExactSum reversed;
    for (std::size_t i = count; i-- > 0;) {
      reversed.add_product(static_cast<double>(left[i]), static_cast<double>(right[i]));
    }
    ASSERT_EQ(sum, reversed) << "case " << c;
  }
}

TEST(ExactSum, HasTheValuesOfOneRounding) {
  using Limits = std::numeric_limits<double>;
  const auto sum = [](std::initializer_list<double> numbers) {
    ExactSum exact;
    for (const double number : numbers) exact.add(number);
    return exact.to_double();
  };
  EXPECT_TRUE(same(ExactSum().to_double(), 0.0));
  EXPECT_TRUE(same(sum({-0.0, -0.0}), -0.0));
  EXPECT_TRUE(same(sum({-0.0, 0.0}), 0.0));
  EXPECT_TRUE(same(sum({1.0, -1.0, -0.0}), 0.0));
  EXPECT_EQ(sum({Limits::max(), Limits::max(), -Limits::max()}), Limits::max());
  EXPECT_EQ(sum({Limits::max(), Limits::max()}), Limits::infinity());
  EXPECT_EQ(sum({Limits::max(), 0x1p970}), Limits::infinity());
  EXPECT_EQ(sum({Limits::max(), 0x1p970, -Limits::denorm_min()}), Limits::max());
  EXPECT_EQ(sum({Limits::infinity(), -Limits::max()}), Limits::infinity());
  EXPECT_TRUE(std::isnan(sum({Limits::infinity(), -Limits::infinity()})));
  EXPECT_TRUE(std::isnan(sum({Limits::quiet_NaN(), 1.0})));
  EXPECT_EQ(sum({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(sum({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(sum({1.0, 0x1p-53, Limits::denorm_min()}), 1 + 0x1p-52);
  ExactSum product;
  product.add_product(Limits::denorm_min(), Limits::denorm_min());
  EXPECT_TRUE(same(product.to_double(), 0.0));
  product.add_product(-Limits::max(), Limits::max());
  EXPECT_EQ(product.to_double(), -Limits::infinity());
  product.add_product(Limits::max(), Limits::max());
  EXPECT_TRUE(same(product.to_double(), 0.0));
  product.add(-Limits::denorm_min());
  EXPECT_EQ(product.to_double(), -Limits::denorm_min());
}

TEST(ExactSum, FloatIsRoundedOnce) {
  ExactSum sum;  // near a tie of float, on which a double would lie
  sum.add(1.0);
  sum.add(0x1p-24);
  sum.add(0x1p-80);
  EXPECT_EQ(sum.to_float(), 1 + 0x1p-23F);
}

TEST(ExactSum, PacksIntoItsWindow) {
  std::mt19937_64 random(6);
  for (std::size_t c = 0; c < cases(); ++c) {
    const auto kind_of = [&] { return random_numbers<double>(random, 1 + random() % 5); };
    ExactSum left, right;
    left.add(std::span<const double>(kind_of()));
    right.add(std::span<const double>(kind_of()));
    const auto joined = [](ExactSum::Window a, ExactSum::Window b) {
      return ExactSum::Window{.first = std::min(a.first, b.first), .last = std::max(a.last, b.last)};
    };
    for (const ExactSum::Window window :
         {ExactSum::Window{}, ExactSum::of_numbers, joined(left.window(), right.window())}) {
      std::vector<std::uint64_t> a(window.packed_words()), b(window.packed_words());
      left.pack(window, a);
      right.pack(window, b);
      ASSERT_EQ(ExactSum::unpack(window, a), left);
      ExactSum::add_packed(a.data(), b.data(), 1, window);
      ASSERT_EQ(ExactSum::unpack(window, b), left + right);
    }
  }
}

/// A program may round in another way, or flush subnormal numbers.
TEST(ExactSum, KeepsTheProgramsSettings) {
  std::vector<double> numbers(100, std::numeric_limits<double>::denorm_min());
  numbers.push_back(1.0);
  std::fesetround(FE_UPWARD);
  ExactSum sum;
  sum.add(std::span<const double>(numbers));
  const double rounded = sum.to_double();
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(after, FE_UPWARD);
  EXPECT_EQ(rounded, 1.0);
}

}  // namespace
}  // namespace circoll
