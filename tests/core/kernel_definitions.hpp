// The elements of every type, and the definition of every operator on them, one element at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "circoll/ops.hpp"

namespace circoll {

using Random = std::mt19937_64;

// ---- Elements. Each type of the oracle has three functions: element(random), same(x, y) and define(op, a, b). The
// first gives any value, and often a special one. The second compares bits where the definition fixes the bits. The
// third is the definition of a op b.

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

inline double to_double(Half half) {
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

inline Half to_half(double value) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return {0x7E00};
  if (magnitude >= 65536) return {static_cast<std::uint16_t>(sign | 0x7C00)};
  const int exponent = magnitude < std::ldexp(1.0, -14) ? -14 : std::ilogb(magnitude);
  const int digits = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));  // ties to even
  return {static_cast<std::uint16_t>(sign | (((exponent + 15) << 10) + digits - 1024))};
}

template <typename T>
inline bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}

/// Without padding, so that same_bits compares values only.
template <typename T>
inline constexpr bool has_bits =
    std::has_unique_object_representations_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>;

// NaN payloads of sums and products depend on the order in which a compiler puts the operands. Nothing else may depend
// on that order.
template <typename Float>
inline bool same_number(Float x, Float y) {
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
inline const Ops integer_ops{Op::sum, Op::prod, Op::min,  Op::max, Op::land,
                             Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor};
inline const Ops floating_ops{Op::sum, Op::prod, Op::min, Op::max};
inline const Ops complex_ops{Op::sum, Op::prod};
inline const Ops logical_ops{Op::land, Op::lor, Op::lxor};
inline const Ops byte_ops{Op::band, Op::bor, Op::bxor};
inline const Ops pair_ops{Op::minloc, Op::maxloc};

/// Calls visit(type, its element in the oracle, its operators besides REPLACE and NO_OP) for every type.
template <typename Visit>
inline void for_each_type(Visit visit) {
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

}  // namespace circoll
