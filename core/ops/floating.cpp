// SUM, PROD, MIN, MAX on float32 and float64.
#include "ops/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/floating.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

struct Multiply {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Mul(left, right);
  }
};

// Not hn::Min and hn::Max: their treatment of NaN and of zeros of opposite sign differs between instruction sets.
struct Min {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::IfThenElse(hn::Lt(right, left), right, left);
  }
};

struct Max {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::IfThenElse(hn::Lt(left, right), right, left);
  }
};

template <typename Float>
ReduceKernel kernel_of(Op op) {
  using Tag = hn::ScalableTag<Float>;
  return arithmetic(op, vector_kernel<Add, Tag>, vector_kernel<Multiply, Tag>, vector_kernel<Min, Tag>,
                    vector_kernel<Max, Tag>);
}

ReduceKernel floating_kernel(Op op, Type type) {
  switch (type) {
    case Type::float32:
      return kernel_of<float>(op);
    case Type::float64:
      return kernel_of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace circoll::ops {

ReduceKernel floating_kernel(Target target, Op op, Type type) { return CIRCOLL_ON(target, floating_kernel)(op, type); }

}  // namespace circoll::ops
#endif
