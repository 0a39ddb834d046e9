// SUM, PROD, MIN, MAX on integers.
#include <cstdint>
#include <type_traits>

#include "ops/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/integer.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

struct Multiply {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    if constexpr (sizeof(hn::TFromD<Tag>) > 1 || HWY_TARGET == HWY_SCALAR) {
      return hn::Mul(left, right);
    } else {
      // No instruction set multiplies bytes: the low byte of a 16-bit product is the product of the low bytes.
      const hn::Repartition<std::uint16_t, Tag> wide;
      const auto wide_left = hn::BitCast(wide, left);
      const auto wide_right = hn::BitCast(wide, right);
      const auto even = hn::And(hn::Mul(wide_left, wide_right), hn::Set(wide, 0x00FF));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(wide_left), hn::ShiftRight<8>(wide_right)));
      return hn::BitCast(tag, hn::Or(even, odd));
    }
  }
};

struct Min {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Min(left, right);
  }
};

struct Max {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Max(left, right);
  }
};

template <typename Integer>
ReduceKernel kernel_of(Op op) {
  // Sums and products are the same bits signed and unsigned; unsigned wraps by definition and is compiled once.
  using Tag = hn::ScalableTag<Integer>;
  using WrappingTag = hn::ScalableTag<std::make_unsigned_t<Integer>>;
  return arithmetic(op, vector_kernel<Add, WrappingTag>, vector_kernel<Multiply, WrappingTag>, vector_kernel<Min, Tag>,
                    vector_kernel<Max, Tag>);
}

ReduceKernel integer_kernel(Op op, Type type) {
  switch (type) {
    case Type::int8:
      return kernel_of<std::int8_t>(op);
    case Type::int16:
      return kernel_of<std::int16_t>(op);
    case Type::int32:
      return kernel_of<std::int32_t>(op);
    case Type::int64:
      return kernel_of<std::int64_t>(op);
    case Type::uint8:
      return kernel_of<std::uint8_t>(op);
    case Type::uint16:
      return kernel_of<std::uint16_t>(op);
    case Type::uint32:
      return kernel_of<std::uint32_t>(op);
    case Type::uint64:
      return kernel_of<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace circoll::ops {

ReduceKernel integer_kernel(Target target, Op op, Type type) { return CIRCOLL_ON(target, integer_kernel)(op, type); }

}  // namespace circoll::ops
#endif
