// SUM, PROD on complex64 and complex128.
//
// The product is (ac - bd, ad + bc), four rounded products and two rounded sums. This directory is compiled with
// -ffp-contract=off. A compiler that fuses them, as GCC does by default even for intrinsics, would give other bits on
// machines with FMA than on machines without. Ranks may run on both.
#include "ops/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/complex.cpp"
#include "hwy/foreach_target.h"
// after foreach_target.h
#include "ops/vector_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR  // vectors of one lane hold no complex number

template <typename Float>
void product_kernel(void* dst_bytes, const void* left_bytes, const void* right_bytes, std::size_t elements) {
  auto* dst = static_cast<Float*>(dst_bytes);
  const auto* left = static_cast<const Float*>(left_bytes);
  const auto* right = static_cast<const Float*>(right_bytes);
  for (std::size_t i = 0; i < 2 * elements; i += 2) {
    const Float a = left[i], b = left[i + 1], c = right[i], d = right[i + 1];
    dst[i] = a * c - b * d;
    dst[i + 1] = a * d + b * c;
  }
}

#else

struct MultiplyComplex {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag tag, Vec left, Vec right) const {
    const auto ac_ad = hn::Mul(hn::DupEven(left), right);
    const auto bd_bc = hn::Mul(hn::DupOdd(left), hn::Reverse2(tag, right));
    return hn::OddEven(hn::Add(ac_ad, bd_bc), hn::Sub(ac_ad, bd_bc));
  }
};

template <typename Float>
constexpr ReduceKernel product_kernel = vector_kernel<MultiplyComplex, hn::ScalableTag<Float>, 2>;

#endif

template <typename Float>
ReduceKernel kernel_of(Op op) {
  return arithmetic(op, vector_kernel<Add, hn::ScalableTag<Float>, 2>, product_kernel<Float>);
}

ReduceKernel complex_kernel(Op op, Type type) {
  switch (type) {
    case Type::complex64:
      return kernel_of<float>(op);
    case Type::complex128:
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

ReduceKernel complex_kernel(Target target, Op op, Type type) { return CIRCOLL_ON(target, complex_kernel)(op, type); }

}  // namespace circoll::ops
#endif
