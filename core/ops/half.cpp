// SUM, PROD, MIN, MAX on float16 (IEEE 754 binary16).
//
// Sums and products are computed in float32 and rounded once. That is the correctly rounded result: 24 bits of
// significand are at least 2 * 11 + 2, so rounding to float32 first never changes the rounding to float16. MIN and MAX
// compare the 16-bit patterns as integers: twice the lanes, and the result is an operand unchanged.
#include <bit>
#include <cstdint>

#include "ops/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/half.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

using FloatTag = hn::ScalableTag<float>;
using HalfTag = hn::Rebind<std::uint16_t, FloatTag>;  ///< the patterns of as many float16 as there are lanes of float32

// Conversions where Highway has no instruction for them are ours: Highway's own flush subnormal numbers in
// places, and these give the bits that F16C gives, NaN payloads included.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

using NativeHalfTag = hn::Rebind<hwy::float16_t, FloatTag>;

template <class HalfVec>
HWY_INLINE hn::Vec<FloatTag> to_float(HalfVec half) {
  return hn::PromoteTo(FloatTag(), hn::BitCast(NativeHalfTag(), half));
}

HWY_INLINE hn::Vec<HalfTag> to_half(hn::Vec<FloatTag> value) {
  return hn::BitCast(HalfTag(), hn::DemoteTo(NativeHalfTag(), value));
}

#else

using BitsTag = hn::Rebind<std::uint32_t, FloatTag>;

template <class HalfVec>
HWY_INLINE hn::Vec<FloatTag> to_float(HalfVec half) {
  const FloatTag floats;
  const BitsTag bits;
  const auto wide = hn::PromoteTo(bits, half);
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(bits, 0x8000u)));
  const auto exponent_and_fraction = hn::And(wide, hn::Set(bits, 0x7FFFu));
  // Read as float32 the pattern is 2^112 (the difference of the exponent biases) too small. A multiplication by a power
  // of two is exact, and also normalises float16's subnormal numbers.
  const auto scaled = hn::BitCast(
      bits, hn::Mul(hn::BitCast(floats, hn::ShiftLeft<13>(exponent_and_fraction)), hn::Set(floats, 0x1p112f)));
  const auto finite = hn::Lt(exponent_and_fraction, hn::Set(bits, 0x7C00u));
  const auto special = hn::Or(hn::ShiftLeft<13>(exponent_and_fraction), hn::Set(bits, 0x7F800000u));
  return hn::BitCast(floats, hn::Or(sign, hn::IfThenElse(finite, scaled, special)));
}

HWY_INLINE hn::Vec<HalfTag> to_half(hn::Vec<FloatTag> value) {
  const FloatTag floats;
  const BitsTag bits;
  const auto pattern = hn::BitCast(bits, value);
  const auto sign = hn::And(pattern, hn::Set(bits, 0x80000000u));
  const auto magnitude = hn::Xor(pattern, sign);

  // Normal result: change the exponent's bias and round the 13 surplus bits half to even. A carry out of the
  // fraction raises the exponent, up to infinity, as it should.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(bits, 1u));
  const auto normal = hn::ShiftRight<13>(
      hn::Add(hn::Sub(magnitude, hn::Set(bits, (127u - 15u) << 23)), hn::Add(hn::Set(bits, 0xFFFu), odd)));
  // Subnormal result: adding 0.5, whose last place is float16's smallest number 2^-24, makes the adder round.
  const auto half = hn::Set(floats, 0.5f);
  const auto subnormal =
      hn::Sub(hn::BitCast(bits, hn::Add(hn::BitCast(floats, magnitude), half)), hn::BitCast(bits, half));
  // NaN: quiet, with the leading bits of the payload.
  const auto nan = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(bits, 0x3FFu)), hn::Set(bits, 0x7E00u));

  constexpr auto smallest_normal = std::bit_cast<std::uint32_t>(0x1p-14f);
  constexpr auto overflow = std::bit_cast<std::uint32_t>(0x1p16f);
  auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(bits, smallest_normal)), subnormal, normal);
  result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(bits, overflow)), result, hn::Set(bits, 0x7C00u));
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(bits, 0x7F800000u)), nan, result);
  result = hn::Or(result, hn::ShiftRight<16>(sign));
  // Highway narrows from signed lanes, with saturation, which a value of 16 bits never meets.
  return hn::DemoteTo(HalfTag(), hn::BitCast(hn::Rebind<std::int32_t, FloatTag>(), result));
}

#endif

struct AddHalf {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return to_half(hn::Add(to_float(left), to_float(right)));
  }
};

struct MultiplyHalf {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return to_half(hn::Mul(to_float(left), to_float(right)));
  }
};

/// left < right of float16 in int16 lanes: false if either is NaN, and -0 is not less than +0.
template <class Tag, class Vec>
HWY_INLINE auto less(Tag tag, Vec left, Vec right) {
  const auto zero = hn::Zero(tag);
  const auto magnitude_mask = hn::Set(tag, 0x7FFF);
  const auto left_magnitude = hn::And(left, magnitude_mask);
  const auto right_magnitude = hn::And(right, magnitude_mask);
  // Sign and magnitude to two's complement, which orders as the numbers do and has one zero.
  const auto left_key = hn::IfThenElse(hn::Lt(left, zero), hn::Sub(zero, left_magnitude), left_magnitude);
  const auto right_key = hn::IfThenElse(hn::Lt(right, zero), hn::Sub(zero, right_magnitude), right_magnitude);
  const auto nan = hn::Set(tag, 0x7C01);
  const auto ordered = hn::And(hn::Lt(left_magnitude, nan), hn::Lt(right_magnitude, nan));
  return hn::And(ordered, hn::Lt(left_key, right_key));
}

struct MinHalf {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    return hn::IfThenElse(less(tag, right, left), right, left);
  }
};

struct MaxHalf {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    return hn::IfThenElse(less(tag, left, right), right, left);
  }
};

ReduceKernel half_kernel(Op op) {
  using PatternTag = hn::ScalableTag<std::int16_t>;
  return arithmetic(op, vector_kernel<AddHalf, HalfTag>, vector_kernel<MultiplyHalf, HalfTag>,
                    vector_kernel<MinHalf, PatternTag>, vector_kernel<MaxHalf, PatternTag>);
}

}  // namespace
}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace circoll::ops {

ReduceKernel half_kernel(Target target, Op op) { return CIRCOLL_ON(target, half_kernel)(op); }

}  // namespace circoll::ops
#endif
