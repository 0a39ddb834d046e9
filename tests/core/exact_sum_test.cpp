// Exact sums against integers of any length, on every instruction set of this machine. EXACT_CASES=10000000 makes so
// many random cases of each kind.
#include "circoll/exact.hpp"

#include <gtest/gtest.h>

#include <array>
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
#ifdef CIRCOLL_SANITIZED
  constexpr std::size_t usual = 1500;
#else
  constexpr std::size_t usual = 6000;
#endif
  const char* const wanted = std::getenv("EXACT_CASES");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : usual;
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
        const Float expected = sum_of(columns[e]);
        ASSERT_TRUE(same(sums[e], expected))
            << "target " << ops::name_of(target) << ", case " << c << ", element " << e << " of " << elements << ", "
            << rows << " rows: " << sums[e] << " and not " << expected;
      }
      ASSERT_EQ(sums[elements], Float{42});
    }
  }
}

TYPED_TEST(ExactSums, OfTwoAreThoseOfIntegers) {
  using Float = TypeParam;
  for (const ops::Target target : ops::all_targets) {
    if (!ops::is_usable(target)) continue;
    std::mt19937_64 random(3);
    for (std::size_t c = 0; c < cases(); ++c) {
      const bool complex = random() % 2 == 0;
      const std::size_t lanes = complex ? 2 : 1, count = lanes * (1 + random() % 40);
      const Type type = sizeof(Float) == 4 ? (complex ? Type::complex64 : Type::float32)
                                           : (complex ? Type::complex128 : Type::float64);
      const std::vector<Float> left = random_numbers<Float>(random, count),
                               right = random_numbers<Float>(random, count);
      std::vector<Float> sums(count + 1, Float{42});
      ops::exact_sum_of_two(target, type)(sums.data(), left.data(), right.data(), count / lanes);
      for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same(sums[i], sum_of(std::vector{left[i], right[i]})));
      ASSERT_EQ(sums[count], Float{42});
    }
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

template <typename Short>
class ExactShortSums : public testing::Test {};
using ShortFloats = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(ExactShortSums, ShortFloats);

/// The value of a pattern, by the definition of the format.
template <typename Short>
double meaning(unsigned bits) {
  const unsigned magnitude = bits & 0x7FFFU, fraction = magnitude % (1U << (Short::digits - 1));
  const int exponent = static_cast<int>(magnitude >> (Short::digits - 1));
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if (magnitude == Short::infinity_bits) return sign * std::numeric_limits<double>::infinity();
  const double hidden = exponent == 0 ? 0 : 1U << (Short::digits - 1);
  return sign * std::ldexp(hidden + fraction, std::max(exponent, 1) - 1 + Short::min_exponent - Short::digits);
}

TYPED_TEST(ExactShortSums, HaveEveryNumberOfTheirFormat) {
  using Short = TypeParam;
  for (unsigned bits = 0; bits < 1U << 16U; ++bits) {
    const Short number = Short::from_bits(static_cast<std::uint16_t>(bits));
    const auto value = static_cast<double>(number);
    if ((bits & 0x7FFFU) > Short::infinity_bits) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_EQ(Short(value).bits(), Short::nan_bits) << bits;
      continue;
    }
    ASSERT_TRUE(same(value, meaning<Short>(bits))) << bits;
    ASSERT_TRUE(same(static_cast<double>(static_cast<float>(number)), value)) << bits;
    ASSERT_EQ(Short(value), number) << bits;
    if ((bits & 0x7FFFU) + 1 >= Short::infinity_bits) continue;
    // Between this number and the next one: the middle goes to the even one, and the least beside it decides.
    const Short next = Short::from_bits(static_cast<std::uint16_t>(bits + 1));
    const double middle = (value + static_cast<double>(next)) / 2;
    ASSERT_EQ(Short(middle), bits % 2 == 0 ? number : next) << bits;
    ASSERT_EQ(Short(std::nextafter(middle, value)), number) << bits;
    ASSERT_EQ(Short(std::nextafter(middle, 2 * middle)), next) << bits;
  }
}

TYPED_TEST(ExactShortSums, AreThoseOfIntegersInEveryOrder) {
  using Short = TypeParam;
  std::mt19937_64 random(8);
  for (std::size_t c = 0; c < cases(); ++c) {
    const std::size_t count = c % 50 == 0 ? 40 + random() % 3000 : 1 + random() % 40;
    std::vector<Short> numbers, others;
    BigNumber exact, products;
    const unsigned few_bits = random() % 2 == 0 ? 0xFFFFU : 0x87FFU;  // all exponents, or small ones
    for (std::size_t i = 0; i < count; ++i) {
      for (std::vector<Short>* const to : {&numbers, &others}) {
        auto bits = static_cast<std::uint16_t>(random() & few_bits);
        if ((bits & 0x7FFFU) >= Short::infinity_bits) bits = static_cast<std::uint16_t>(Short::infinity_bits - 1);
        to->push_back(Short::from_bits(bits));
      }
      if (i % 3 == 2) numbers[i] = Short::from_bits(static_cast<std::uint16_t>(numbers[i - 2].bits() ^ 0x8000U));
      exact = exact + BigNumber(static_cast<double>(numbers[i]));
    }
    ExactSum sum, dot;
    sum.add(std::span<const Short>(numbers));
    dot.add_products(std::span<const Short>(numbers), std::span<const Short>(others));
    if (!exact.is_zero()) {
      const Short found = [&] {
        if constexpr (std::is_same_v<Short, Float16>) {
          return sum.to_float16();
        } else {
          return sum.to_bfloat16();
        }
      }();
      ASSERT_EQ(found.bits(), exact_reference::nearest_short<Short>(exact).bits()) << "case " << c;
    }
    ExactSum singly, single_products;
    for (std::size_t i = count; i-- > 0;) {
      singly.add(static_cast<double>(numbers[i]));
      single_products.add_product(static_cast<double>(numbers[i]), static_cast<double>(others[i]));
    }
    ASSERT_EQ(sum, singly) << "case " << c;
    ASSERT_EQ(dot, single_products) << "case " << c;
  }
}

TEST(ExactShortSums, HaveTheValuesOfOneRounding) {
  constexpr Float16 max = Float16::from_bits(0x7BFF), minus_zero = Float16::from_bits(0x8000);
  const auto sum = [](const std::vector<Float16>& numbers) {
    ExactSum exact;
    exact.add(std::span<const Float16>(numbers));
    return exact.to_float16();
  };
  EXPECT_EQ(static_cast<double>(max), 65504);
  EXPECT_EQ(sum({}), Float16());
  EXPECT_EQ(sum({minus_zero, minus_zero}), minus_zero);
  EXPECT_EQ(sum({minus_zero, Float16()}), Float16());
  EXPECT_EQ(sum({max, max, Float16(-65504)}), max);
  EXPECT_EQ(sum({max, Float16(16)}).bits(), Float16::infinity_bits);
  EXPECT_EQ(sum({max, Float16(16), Float16(-0x1p-24)}), max);
  EXPECT_EQ(sum({Float16(std::numeric_limits<double>::infinity()), Float16(-INFINITY)}).bits(), Float16::nan_bits);
  EXPECT_EQ(sum({Float16(1), Float16(0x1p-11)}), Float16(1));
  EXPECT_EQ(sum({Float16(1), Float16(0x1p-11), Float16(0x1p-24)}), Float16(1 + 0x1p-10));
  // A float in between would round twice: 1 + 2^-11 + 2^-40 lies above the middle.
  EXPECT_EQ(Float16(1 + 0x1p-11 + 0x1p-40), Float16(1 + 0x1p-10));
  EXPECT_EQ(BFloat16(0x1p128).bits(), BFloat16::infinity_bits);
  EXPECT_EQ(static_cast<double>(BFloat16(3.140625)), 3.140625);
}

/// The processor's settings for floating-point numbers, as programs change them.
#if defined(__x86_64__)
using Settings = unsigned;
constexpr std::array<Settings, 4> all_settings{0x9FC0, 0x0000, 0x5F80, 0x3F80};  // flushing, traps, upward, downward
Settings now() { return __builtin_ia32_stmxcsr() & ~0x3FU; }                     // without flags
void set(Settings settings) { __builtin_ia32_ldmxcsr(settings); }
#else
using Settings = int;
constexpr std::array<Settings, 2> all_settings{FE_UPWARD, FE_DOWNWARD};
Settings now() { return std::fegetround(); }
void set(Settings settings) { std::fesetround(settings); }
#endif

/// Sums by each way: few and many numbers, spans and single ones, products, rows, and two operands.
template <typename Float>
std::vector<ExactSum> all_sums(const std::vector<Float>& numbers, std::vector<Float>& rounded) {
  constexpr Type type = sizeof(Float) == 4 ? Type::float32 : Type::float64;
  const std::span<const Float> all(numbers);
  std::vector<ExactSum> sums(5);
  sums[0].add(all);
  sums[1].add(all.first(5));
  if constexpr (sizeof(Float) == 8) sums[2].add(numbers[0]);
  sums[3].add_products(all, all);
  sums[4].add_products(all.first(1), all.first(1));
  rounded.resize(numbers.size());
  const std::size_t half = numbers.size() / 2;
  ops::exact_sum_of_rows(ops::best_target(), type)(rounded.data(), {all.data(), half, 2}, half);
  ops::exact_sum_of_two(ops::best_target(), type)(rounded.data() + half, all.data(), all.data() + half, half);
  return sums;
}

TYPED_TEST(ExactSums, KeepTheProgramsSettings) {
  using Float = TypeParam;
  using Limits = std::numeric_limits<Float>;
  const Settings usual = now();
  std::vector<std::vector<Float>> data(4, std::vector<Float>(100, Limits::denorm_min()));
  data[1] = std::vector<Float>(100, -Limits::denorm_min());  // a flushed one would be -0
  data[2].assign(100, Limits::max());                        // whose sums overflow
  data[3].front() = Float{1};                                // which is inexact
  for (const std::vector<Float>& numbers : data) {
    std::vector<Float> expected_rounded, rounded;
    const std::vector<ExactSum> expected = all_sums(numbers, expected_rounded);
    for (const Settings settings : all_settings) {
      set(settings);
      const std::vector<ExactSum> sums = all_sums(numbers, rounded);
      std::array<Float, 5> results;
      for (std::size_t i = 0; i < sums.size(); ++i) results[i] = circoll::rounded<Float>(sums[i]);
      const Settings after = now();
      set(usual);
      EXPECT_EQ(after, settings);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(sums[i], expected[i]) << "settings " << settings << ", way " << i;
        EXPECT_TRUE(same(results[i], circoll::rounded<Float>(expected[i])));
      }
      for (std::size_t i = 0; i < rounded.size(); ++i) EXPECT_TRUE(same(rounded[i], expected_rounded[i]));
    }
  }
  std::vector<Float> ignored;
  EXPECT_NE(all_sums(data[0], ignored)[0], ExactSum());
  EXPECT_TRUE(same(circoll::rounded<Float>(all_sums(data[0], ignored)[0]), 100 * Limits::denorm_min()));
}

}  // namespace
}  // namespace circoll
