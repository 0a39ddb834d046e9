// LAND, LOR, LXOR and BAND, BOR, BXOR: all that matters of a type is the size of its elements.
#include <cstdint>

#include "ops/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bits.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

struct And {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::And(left, right);
  }
};

struct Or {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Or(left, right);
  }
};

struct Xor {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Xor(left, right);
  }
};

/// 1 in the lanes where `mask` holds, 0 in the others.
template <class Tag, class Mask>
HWY_INLINE auto truth(Tag tag, Mask mask) {
  return hn::IfThenElseZero(mask, hn::Set(tag, 1));
}

/// 1 in the lanes where `mask` does not hold, 0 in the others.
template <class Tag, class Mask>
HWY_INLINE auto falsehood(Tag tag, Mask mask) {
  return hn::IfThenZeroElse(mask, hn::Set(tag, 1));
}

// In terms of "is zero", because a comparison for equality is what every instruction set has.
struct LogicalAnd {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    const auto zero = hn::Zero(tag);
    return falsehood(tag, hn::Or(hn::Eq(left, zero), hn::Eq(right, zero)));
  }
};

struct LogicalOr {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    return falsehood(tag, hn::Eq(hn::Or(left, right), hn::Zero(tag)));
  }
};

struct LogicalXor {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    const auto zero = hn::Zero(tag);
    return truth(tag, hn::Xor(hn::Eq(left, zero), hn::Eq(right, zero)));
  }
};

template <typename Element>
ReduceKernel logical_of(Op op) {
  using Tag = hn::ScalableTag<Element>;
  switch (op) {
    case Op::land:
      return vector_kernel<LogicalAnd, Tag>;
    case Op::lor:
      return vector_kernel<LogicalOr, Tag>;
    case Op::lxor:
      return vector_kernel<LogicalXor, Tag>;
    default:
      return nullptr;
  }
}

template <std::size_t element_bytes>
ReduceKernel bitwise_of(Op op) {
  using Tag = hn::ScalableTag<std::uint8_t>;
  switch (op) {
    case Op::band:
      return vector_kernel<And, Tag, element_bytes>;
    case Op::bor:
      return vector_kernel<Or, Tag, element_bytes>;
    case Op::bxor:
      return vector_kernel<Xor, Tag, element_bytes>;
    default:
      return nullptr;
  }
}

ReduceKernel logical_kernel(Op op, std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return logical_of<std::uint8_t>(op);
    case 2:
      return logical_of<std::uint16_t>(op);
    case 4:
      return logical_of<std::uint32_t>(op);
    case 8:
      return logical_of<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

ReduceKernel bitwise_kernel(Op op, std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return bitwise_of<1>(op);
    case 2:
      return bitwise_of<2>(op);
    case 4:
      return bitwise_of<4>(op);
    case 8:
      return bitwise_of<8>(op);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace circoll::ops {

ReduceKernel logical_kernel(Target target, Op op, std::size_t element_bytes) {
  return CIRCOLL_ON(target, logical_kernel)(op, element_bytes);
}

ReduceKernel bitwise_kernel(Target target, Op op, std::size_t element_bytes) {
  return CIRCOLL_ON(target, bitwise_kernel)(op, element_bytes);
}

}  // namespace circoll::ops
#endif
