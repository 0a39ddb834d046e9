// The reduction kernels against scalar definitions written out here, on every instruction set of this
// machine.
#include "circoll/ops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hwy/highway.h"

namespace circoll {
namespace {

using Random = std::mt19937_64;

// ---- Elements. Each type of the oracle has: element(random), any value with special ones often; same(x, y),
// equal bits where the definition fixes the bits; define(op, a, b), the definition of a op b.

struct Half {
  std::uint16_t bits;
};
template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};
template <typename Float>
struct Complex {
  Float re, im;
};
struct Truth32 {
  std::uint32_t bits;
};
struct Truth8 {
  std::uint8_t bits;
};
struct Byte {
  std::uint8_t bits;
};

double to_double(Half half) {
  const int exponent = (half.bits >> 10) & 31;
  const int fraction = half.bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return std::copysign(magnitude, (half.bits & 0x8000) != 0 ? -1.0 : 1.0);
}

Half to_half(double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return {0x7E00};
  if (magnitude >= 65536) return {static_cast<std::uint16_t>(sign | 0x7C00)};
  const int exponent = magnitude < std::ldexp(1.0, -14) ? -14 : std::ilogb(magnitude);
  const int digits = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // ties to even
  return {static_cast<std::uint16_t>(sign | (((exponent + 15) << 10) + digits - 1024))};
}

template <typename T>
bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}

/// No padding, so that same_bits means what it says.
template <typename T>
constexpr bool has_bits =
    std::has_unique_object_representations_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

// NaN payloads of sums and products depend on the order in which a compiler puts the operands; nothing else
// may.
template <typename Float>
bool same_number(Float x, Float y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y && std::signbit(x) == std::signbit(y);
}

template <typename T>
struct Element;

template <typename T>
requires std::is_integral_v<T>
struct Element<T> {
  static T any(Random& random) {
    static constexpr std::array special{
        std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}, T{1}, static_cast<T>(-1), T{2}};
    const auto bits = random();
    return bits % 3 == 0 ? special[(bits >> 8) % special.size()] : static_cast<T>(bits >> 7);
  }
  static bool same(T x, T y) { return x == y; }
  static T define(Op op, T a, T b) {
    using Wide = unsigned __int128;  // wraps and holds any operand, sign extended
    switch (op) {
      case Op::sum:
        return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
      case Op::prod:
        return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
      case Op::min:
        return b < a ? b : a;
      case Op::max:
        return a < b ? b : a;
      case Op::land:
        return a && b;
      case Op::lor:
        return a || b;
      case Op::lxor:
        return !a != !b;
      case Op::band:
        return static_cast<T>(a & b);
      case Op::bor:
        return static_cast<T>(a | b);
      case Op::bxor:
        return static_cast<T>(a ^ b);
      default:
        std::abort();
    }
  }
};

template <typename Truth>
struct TruthElement {
  static Truth any(Random& random) {
    const auto bits = random();
    return {static_cast<decltype(Truth::bits)>(bits % 2 == 0 ? 0 : bits % 3 == 0 ? bits >> 5 : 1)};
  }
  static bool same(Truth x, Truth y) { return x.bits == y.bits; }
  static Truth define(Op op, Truth a, Truth b) { return {Element<decltype(Truth::bits)>::define(op, a.bits, b.bits)}; }
};
template <>
struct Element<Truth8> : TruthElement<Truth8> {};
template <>
struct Element<Truth32> : TruthElement<Truth32> {};
template <>
struct Element<Byte> {
  static Byte any(Random& random) { return {static_cast<std::uint8_t>(random())}; }
  static bool same(Byte x, Byte y) { return x.bits == y.bits; }
  static Byte define(Op op, Byte a, Byte b) { return {Element<std::uint8_t>::define(op, a.bits, b.bits)}; }
};

template <typename T>
requires std::is_floating_point_v<T>
struct Element<T> {
  using Limits = std::numeric_limits<T>;
  static T any(Random& random) {
    const std::array special{T{0},
                             -T{0},
                             T{1},
                             -T{1},
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::max(),
                             -Limits::max(),
                             Limits::min(),
                             Limits::denorm_min(),
                             -Limits::denorm_min(),
                             Limits::quiet_NaN(),
                             -Limits::quiet_NaN()};
    const auto bits = random();
    if (bits % 3 == 0) return special[(bits >> 8) % special.size()];
    const T magnitude = std::ldexp(static_cast<T>(random()), static_cast<int>(bits >> 8 & 127) - 128);
    return (bits >> 32) % 2 == 0 ? magnitude : -magnitude;
  }
  // MIN and MAX return an operand, so signed zeros count; long double has padding bytes, so bits cannot be
  // compared.
  static bool same(T x, T y) { return same_number(x, y); }
  static T define(Op op, T a, T b) {
    switch (op) {
      case Op::sum:
        return a + b;
      case Op::prod:
        return a * b;
      case Op::min:
        return b < a ? b : a;
      case Op::max:
        return a < b ? b : a;
      default:
        std::abort();
    }
  }
};

template <>
struct Element<Half> {
  static Half any(Random& random) {
    static constexpr std::array<std::uint16_t, 12> special{0x0000, 0x8000, 0x7C00, 0xFC00, 0x7BFF, 0x0001,
                                                           0x8001, 0x0400, 0x03FF, 0x7E00, 0xFFFF, 0x3C00};
    const auto bits = random();
    return {bits % 3 == 0 ? special[(bits >> 8) % special.size()] : static_cast<std::uint16_t>(bits >> 8)};
  }
  static bool same(Half x, Half y) {
    return x.bits == y.bits || (std::isnan(to_double(x)) && std::isnan(to_double(y)));
  }
  static Half define(Op op, Half a, Half b) {
    switch (op) {
      case Op::sum:
        return to_half(to_double(a) + to_double(b));  // exact in double, so rounded once
      case Op::prod:
        return to_half(to_double(a) * to_double(b));
      case Op::min:
        return to_double(b) < to_double(a) ? b : a;
      case Op::max:
        return to_double(a) < to_double(b) ? b : a;
      default:
        std::abort();
    }
  }
};

template <typename Float>
struct Element<Complex<Float>> {
  using T = Complex<Float>;
  static T any(Random& random) { return {Element<Float>::any(random), Element<Float>::any(random)}; }
  static bool same(T x, T y) { return same_number(x.re, y.re) && same_number(x.im, y.im); }
  static T define(Op op, T a, T b) {
    switch (op) {
      case Op::sum:
        return {a.re + b.re, a.im + b.im};
      case Op::prod: {
        // volatile: the compiler of this test may not fuse what the definition rounds.
        const volatile Float ac = a.re * b.re, bd = a.im * b.im, ad = a.re * b.im, bc = a.im * b.re;
        return {ac - bd, ad + bc};
      }
      default:
        std::abort();
    }
  }
};

template <typename Value, typename Index>
struct Element<Pair<Value, Index>> {
  using T = Pair<Value, Index>;
  static T any(Random& random) {
    T pair;
    std::memset(&pair, 0, sizeof pair);
    pair.value = Element<Value>::any(random);
    pair.index = static_cast<Index>(random() % 4);  // few, to get ties
    return pair;
  }
  static bool same(T x, T y) {
    return Element<Value>::same(x.value, y.value) && Element<Index>::same(x.index, y.index);
  }
  static T define(Op op, T a, T b) {
    if (a.value == b.value) return b.index < a.index ? b : a;
    if (op == Op::minloc) return b.value < a.value ? b : a;
    return a.value < b.value ? b : a;
  }
};

// ---- MPI 4.0, section 6.9.2, by groups of types.

using Ops = std::vector<Op>;
const Ops integer_ops{Op::sum, Op::prod, Op::min, Op::max, Op::land, Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor};
const Ops floating_ops{Op::sum, Op::prod, Op::min, Op::max};
const Ops complex_ops{Op::sum, Op::prod};
const Ops logical_ops{Op::land, Op::lor, Op::lxor};
const Ops byte_ops{Op::band, Op::bor, Op::bxor};
const Ops pair_ops{Op::minloc, Op::maxloc};

/// Calls visit(type, its element in the oracle, its operators besides REPLACE and NO_OP) for every type.
template <typename Visit>
void for_each_type(Visit visit) {
  visit(Type::byte, Byte{}, byte_ops);
  visit(Type::int8, std::int8_t{}, integer_ops);
  visit(Type::int16, std::int16_t{}, integer_ops);
  visit(Type::int32, std::int32_t{}, integer_ops);
  visit(Type::int64, std::int64_t{}, integer_ops);
  visit(Type::uint8, std::uint8_t{}, integer_ops);
  visit(Type::uint16, std::uint16_t{}, integer_ops);
  visit(Type::uint32, std::uint32_t{}, integer_ops);
  visit(Type::uint64, std::uint64_t{}, integer_ops);
  visit(Type::float16, Half{}, floating_ops);
  visit(Type::float32, float{}, floating_ops);
  visit(Type::float64, double{}, floating_ops);
  visit(Type::float_long, 0.0L, floating_ops);
  visit(Type::complex64, Complex<float>{}, complex_ops);
  visit(Type::complex128, Complex<double>{}, complex_ops);
  visit(Type::complex_long, Complex<long double>{}, complex_ops);
  visit(Type::boolean, Truth8{}, logical_ops);
  visit(Type::pair_float_int, Pair<float, int>{}, pair_ops);
  visit(Type::pair_double_int, Pair<double, int>{}, pair_ops);
  visit(Type::pair_long_int, Pair<long, int>{}, pair_ops);
  visit(Type::pair_int_int, Pair<int, int>{}, pair_ops);
  visit(Type::pair_short_int, Pair<short, int>{}, pair_ops);
  visit(Type::pair_long_double_int, Pair<long double, int>{}, pair_ops);
  visit(Type::pair_float_float, Pair<float, float>{}, pair_ops);
  visit(Type::pair_double_double, Pair<double, double>{}, pair_ops);
  visit(Type::logical, Truth32{}, logical_ops);
}

/// While it lives, kernels are those of one instruction set.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~OnTarget() { hwy::SetSupportedTargetsForTest(0); }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;
};

/// The instruction sets that the library was compiled for and this processor has, and the fallback.
std::vector<std::int64_t> usable_targets() {
  std::set<std::int64_t> targets{HWY_STATIC_TARGET};
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) targets.insert(target);
  return {targets.begin(), targets.end()};
}

const std::array<std::size_t, 14> sizes{0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 1000, 1003};
enum class Alias { none, left, right };

/// One call on `n` elements that start `shift` elements after an aligned address; checks the elements around
/// them too.
template <typename T>
void check_call(ReduceKernel kernel, const std::function<T(T, T)>& define, std::size_t n, std::size_t shift,
                Alias alias, bool compare_bits, Random& random) {
  std::vector<T> left(n + 3), right(n + 3), dst(n + 3);
  for (auto* array : {&left, &right, &dst}) {
    for (T& element : *array) element = Element<T>::any(random);
  }
  if (alias == Alias::left) dst = left;
  if (alias == Alias::right) dst = right;
  const auto before = dst;
  const T* left_arg = (alias == Alias::left ? dst : left).data() + shift;
  const T* right_arg = (alias == Alias::right ? dst : right).data() + shift;
  kernel(dst.data() + shift, left_arg, right_arg, n);
  for (std::size_t i = 0; i < dst.size(); ++i) {
    const bool inside = i >= shift && i < shift + n;
    const T expected = inside ? define(left[i], right[i]) : before[i];
    const bool as_expected = compare_bits ? same_bits(dst[i], expected) : Element<T>::same(dst[i], expected);
    ASSERT_TRUE(as_expected) << "element " << i << " of " << n << ", shift " << shift << ", alias "
                             << static_cast<int>(alias);
  }
}

template <typename T>
void check_kernel(ReduceKernel kernel, const std::function<T(T, T)>& define, bool compare_bits) {
  Random random(1);
  for (const std::size_t n : sizes) {
    for (const std::size_t shift : {0u, 1u, 2u}) {
      for (const Alias alias : {Alias::none, Alias::left, Alias::right}) {
        check_call(kernel, define, n, shift, alias, compare_bits, random);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class OpsOnTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  OnTarget target_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Targets, OpsOnTarget, testing::ValuesIn(usable_targets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

TEST_P(OpsOnTarget, ReportsItsName) { EXPECT_STREQ(kernel_target(), hwy::TargetName(GetParam())); }

TEST_P(OpsOnTarget, KernelsEqualTheDefinitions) {
  for_each_type([](Type type, auto zero, const Ops& ops) {
    using T = decltype(zero);
    ASSERT_EQ(extent_bytes(type), sizeof(T));
    for (const Op op : ops) {
      SCOPED_TRACE(std::string(to_string(op)) + " on " + std::string(to_string(type)));
      const ReduceKernel kernel = reduce_kernel(op, type);
      ASSERT_NE(kernel, nullptr);
      // Where the result is an operand, NaN payloads count too.
      const bool compare_bits = has_bits<T> && (op == Op::min || op == Op::max);
      check_kernel<T>(
          kernel, [op](T a, T b) { return Element<T>::define(op, a, b); }, compare_bits);
    }
  });
}

TEST_P(OpsOnTarget, ReplaceAndNoOpCopyEveryType) {
  for_each_type([](Type type, auto zero, const Ops&) {
    using T = decltype(zero);
    SCOPED_TRACE(to_string(type));
    check_kernel<T>(
        reduce_kernel(Op::replace, type), [](T, T b) { return b; }, false);
    check_kernel<T>(
        reduce_kernel(Op::no_op, type), [](T a, T) { return a; }, false);
  });
}

TEST_P(OpsOnTarget, EveryHalfIsConverted) {
  constexpr std::size_t n = 65536;
  // Neutral elements, operands that shift the result into the subnormal range and out of range, and ties.
  constexpr std::array<std::uint16_t, 10> others{0x0000, 0x8000, 0x3C00, 0x0001, 0x0400,
                                                 0x1400, 0x3BFF, 0x3C01, 0x4000, 0x7BFF};
  for (const std::uint16_t other : others) {
    std::vector<Half> left(n), right(n, Half{other}), dst(n);
    for (std::size_t i = 0; i < n; ++i) left[i] = {static_cast<std::uint16_t>(i)};
    for (const Op op : floating_ops) {
      reduce_kernel(op, Type::float16)(dst.data(), left.data(), right.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(Element<Half>::same(dst[i], Element<Half>::define(op, left[i], right[i])))
            << to_string(op) << " of " << std::hex << i << " and " << other << " gave " << dst[i].bits;
      }
    }
  }
}

TEST(Ops, TargetsGiveTheSameBits) {
  for_each_type([](Type type, auto zero, const Ops& ops) {
    constexpr std::size_t n = 1003;
    using T = decltype(zero);
    Random random(2);
    std::vector<T> left(n), right(n);
    for (auto* array : {&left, &right}) {
      for (T& element : *array) element = Element<T>::any(random);
    }
    for (const Op op : ops) {
      std::vector<T> first;
      for (const std::int64_t target : usable_targets()) {
        const OnTarget on_target(target);
        std::vector<T> dst(n);
        reduce_kernel(op, type)(dst.data(), left.data(), right.data(), n);
        if (first.empty()) first = dst;
        for (std::size_t i = 0; i < n; ++i) {
          const bool equal =
              has_bits<T> && is_exact(op, type) ? same_bits(dst[i], first[i]) : Element<T>::same(dst[i], first[i]);
          ASSERT_TRUE(equal) << to_string(op) << " on " << to_string(type) << " differs on " << hwy::TargetName(target);
        }
      }
    }
  });
}

TEST(Ops, AreDefinedExactlyWhereMpiDefinesThem) {
  std::size_t types = 0;
  for_each_type([&types](Type type, auto, const Ops& ops) {
    ++types;
    for (std::size_t i = 0; i < op_count; ++i) {
      const Op op = static_cast<Op>(i);
      bool defined = op == Op::replace || op == Op::no_op;
      for (const Op listed : ops) defined |= listed == op;
      EXPECT_EQ(reduce_kernel(op, type) != nullptr, defined) << to_string(op) << " on " << to_string(type);
    }
  });
  EXPECT_EQ(types, type_count);
}

TEST(Ops, AcceptNullPointersForNoElements) {
  for_each_type([](Type type, auto, const Ops& ops) {
    for (const Op op : ops) reduce_kernel(op, type)(nullptr, nullptr, nullptr, 0);
    reduce_kernel(Op::replace, type)(nullptr, nullptr, nullptr, 0);
    reduce_kernel(Op::no_op, type)(nullptr, nullptr, nullptr, 0);
  });
}

TEST(Ops, ComplexProductsAreNotFused) {
  // (1 + e)(1 - e) rounds to 1; a fused multiply-subtract would give -e^2 for the real part.
  const double e = std::ldexp(1.0, -30);
  const std::vector<Complex<double>> left(5, {1 + e, 1}), right(5, {1 - e, 1});
  std::vector<Complex<double>> dst(5);
  reduce_kernel(Op::prod, Type::complex128)(dst.data(), left.data(), right.data(), dst.size());
  for (const auto& z : dst) EXPECT_EQ(z.re, 0.0);
}

TEST(Ops, MinlocAndMaxlocOfTiesTakeTheLowerIndexInEitherOrder) {
  const Pair<double, int> low{-0.0, 1}, high{0.0, 2};
  for (const Op op : pair_ops) {
    for (const auto& [a, b] : {std::pair(low, high), std::pair(high, low)}) {
      Pair<double, int> result{};
      reduce_kernel(op, Type::pair_double_int)(&result, &a, &b, 1);
      EXPECT_EQ(result.index, 1);
      EXPECT_TRUE(std::signbit(result.value)) << "value and index come from the same operand";
    }
  }
}

TEST(Ops, AreExactButForRoundedSumsAndProducts) {
  const std::set<Type> rounded{Type::float16,   Type::float32,    Type::float64,     Type::float_long,
                               Type::complex64, Type::complex128, Type::complex_long};
  for_each_type([&rounded](Type type, auto, const Ops& ops) {
    for (const Op op : ops) {
      const bool rounds = (op == Op::sum || op == Op::prod) && rounded.count(type) != 0;
      EXPECT_EQ(is_exact(op, type), !rounds) << to_string(op) << " on " << to_string(type);
    }
  });
}

TEST(Ops, CommuteAndRepeatAsDocumented) {
  const std::set<Op> idempotent{Op::min, Op::max, Op::land, Op::lor, Op::band, Op::bor, Op::minloc, Op::maxloc};
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    EXPECT_EQ(is_commutative(op), op != Op::replace && op != Op::no_op) << to_string(op);
    EXPECT_EQ(is_idempotent(op), idempotent.count(op) != 0) << to_string(op);
  }
}

}  // namespace
}  // namespace circoll
