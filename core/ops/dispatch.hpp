// The choice of a family's function by target. It is read after hwy/highway.h.
#pragma once

#include <type_traits>

#include "hwy/highway.h"
#include "ops/targets.hpp"

namespace circoll::ops {

/// The function for a target. Null are those that were not compiled, as the compiler cannot or the baseline is better.
template <typename Function>
Function* function_on(Target target, std::type_identity_t<Function>* avx512, std::type_identity_t<Function>* avx2,
                      std::type_identity_t<Function>* sse4, Function* baseline) {
  if (target >= Target::avx512 && avx512 != nullptr) return avx512;
  if (target >= Target::avx2 && avx2 != nullptr) return avx2;
  if (target >= Target::sse4 && sse4 != nullptr) return sse4;
  return baseline;
}

}  // namespace circoll::ops

/// The function of this name that Highway's foreach_target.h has compiled for a target.
#define CIRCOLL_ON(target, function)                                                          \
  (*::circoll::ops::function_on(target, HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), \
                                HWY_CHOOSE_SSE4(function), &HWY_STATIC_DISPATCH(function)))
