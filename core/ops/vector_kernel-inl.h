// The loop of all vectorised kernels; compiled once per instruction set by Highway's foreach_target.
//
// A kernel is vector_kernel<Combine, Tag>: Combine is a stateless function object on two vectors, Tag is Highway's
// description of the vector. The remainder runs through the same Combine on a padded copy instead of a scalar formula,
// so that no operator is written twice and an element's result does not depend on its position.

// Highway's toggling include guard: this file is read once per target, not once per translation unit.
#if defined(CIRCOLL_OPS_VECTOR_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CIRCOLL_OPS_VECTOR_KERNEL_INL_H_
#undef CIRCOLL_OPS_VECTOR_KERNEL_INL_H_
#else
#define CIRCOLL_OPS_VECTOR_KERNEL_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace circoll::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// SUM of integers (which wrap if Tag is unsigned) and floating-point numbers.
struct Add {
  template <class Tag, class Vec>
  HWY_INLINE Vec operator()(Tag, Vec left, Vec right) const {
    return hn::Add(left, right);
  }
};

/// A ReduceKernel. An element is lanes_per_element lanes of Tag (2 for complex numbers).
template <class Combine, class Tag, std::size_t lanes_per_element = 1>
void vector_kernel(void* dst_bytes, const void* left_bytes, const void* right_bytes, std::size_t elements) {
  using Lane = hn::TFromD<Tag>;
  const Tag tag;
  const Combine combine;
  auto* dst = static_cast<Lane*>(dst_bytes);
  const auto* left = static_cast<const Lane*>(left_bytes);
  const auto* right = static_cast<const Lane*>(right_bytes);
  const std::size_t width = hn::Lanes(tag);
  const std::size_t lanes = elements * lanes_per_element;

  // A single number is by far the most frequent reduction; a vector of one spares it the padded copies below.
  if constexpr (lanes_per_element == 1 && sizeof(Lane) >= 4) {
    if (lanes == 1) {
      const hn::CappedTag<Lane, 1> one;
      hn::StoreU(combine(one, hn::LoadU(one, left), hn::LoadU(one, right)), one, dst);
      return;
    }
  }

  // Both vectors are loaded before the first store, which lets them overlap although dst may alias an operand.
  std::size_t i = 0;
  for (; i + 2 * width <= lanes; i += 2 * width) {
    const auto left0 = hn::LoadU(tag, left + i);
    const auto left1 = hn::LoadU(tag, left + i + width);
    const auto right0 = hn::LoadU(tag, right + i);
    const auto right1 = hn::LoadU(tag, right + i + width);
    const auto result0 = combine(tag, left0, right0);
    const auto result1 = combine(tag, left1, right1);
    hn::StoreU(result0, tag, dst + i);
    hn::StoreU(result1, tag, dst + i + width);
  }
  if (i + width <= lanes) {
    const auto result = combine(tag, hn::LoadU(tag, left + i), hn::LoadU(tag, right + i));
    hn::StoreU(result, tag, dst + i);
    i += width;
  }
  if (i < lanes) {
    // Not a last vector that overlaps its predecessor: where dst is left, that would combine elements twice.
    // Zero padding raises no floating-point exception in any operator.
    HWY_ALIGN Lane left_rest[hn::MaxLanes(tag)] = {};
    HWY_ALIGN Lane right_rest[hn::MaxLanes(tag)] = {};
    const std::size_t rest_bytes = (lanes - i) * sizeof(Lane);
    std::memcpy(left_rest, left + i, rest_bytes);
    std::memcpy(right_rest, right + i, rest_bytes);
    hn::Store(combine(tag, hn::Load(tag, left_rest), hn::Load(tag, right_rest)), tag, left_rest);
    std::memcpy(dst + i, left_rest, rest_bytes);
  }
}

}  // namespace circoll::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // toggling include guard
