// The instruction sets that kernels are compiled for, and the kernels by family of types on each of them.
//
// A family knows which operators exist on its types and returns nullptr for the others. Only table.cpp says which
// families a type belongs to. Highway's own dispatch is not used. It needs the library libhwy, which measures the clock
// for 4 milliseconds in every process that loads it (1.0 and 1.2). This way its headers are enough.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "circoll/ops.hpp"

namespace circoll::ops {

/// From the least to the best. The baseline is what the compiler takes for granted. For the others the processor is
/// asked.
enum class Target { baseline, sse4, avx2, avx512 };
inline constexpr std::array<Target, 4> all_targets{Target::baseline, Target::sse4, Target::avx2, Target::avx512};

/// True if this processor, and its system, run the target's instructions.
[[nodiscard]] bool is_usable(Target target);
/// The best target that is usable. It is found once.
[[nodiscard]] Target best_target();

/// The function for a target. Null are those that were not compiled, as the compiler cannot or the baseline is better.
template <typename Function>
Function* function_on(Target target, std::type_identity_t<Function>* avx512, std::type_identity_t<Function>* avx2,
                      std::type_identity_t<Function>* sse4, Function* baseline) {
  if (target >= Target::avx512 && avx512 != nullptr) return avx512;
  if (target >= Target::avx2 && avx2 != nullptr) return avx2;
  if (target >= Target::sse4 && sse4 != nullptr) return sse4;
  return baseline;
}

/// The one of four kernels that is asked for; nullptr for all other operators.
[[nodiscard]] constexpr ReduceKernel arithmetic(Op op, ReduceKernel sum, ReduceKernel prod, ReduceKernel min = nullptr,
                                                ReduceKernel max = nullptr) {
  switch (op) {
    case Op::sum:
      return sum;
    case Op::prod:
      return prod;
    case Op::min:
      return min;
    case Op::max:
      return max;
    default:
      return nullptr;
  }
}

/// SUM, PROD, MIN, MAX on int8 to uint64.
ReduceKernel integer_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on float32 and float64.
ReduceKernel floating_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on float16.
ReduceKernel half_kernel(Target target, Op op);
/// SUM, PROD on complex64 and complex128.
ReduceKernel complex_kernel(Target target, Op op, Type type);
/// SUM, PROD, MIN, MAX on long double; SUM, PROD on its complex.
ReduceKernel long_double_kernel(Op op, Type type);
/// LAND, LOR, LXOR on elements of 1, 2, 4 or 8 bytes; any nonzero element is true.
ReduceKernel logical_kernel(Target target, Op op, std::size_t element_bytes);
/// BAND, BOR, BXOR on elements of 1, 2, 4 or 8 bytes.
ReduceKernel bitwise_kernel(Target target, Op op, std::size_t element_bytes);
/// MINLOC, MAXLOC on the pair types.
ReduceKernel pair_kernel(Op op, Type type);
/// REPLACE, NO_OP on elements of any size that a type of the library has.
ReduceKernel copy_kernel(Op op, std::size_t element_bytes);

/// reduce_kernel() on one target. A target that was not compiled gives the next lower one.
ReduceKernel kernel_on(Target target, Op op, Type type);

/// Highway's name of a target's instructions.
const char* name_of(Target target);

}  // namespace circoll::ops

// Highway reads this with its first header. It leaves out the targets of x86 that are not in the list: what they would
// add is not worth their code. The highest bit is SSE2.
#define HWY_DISABLED_TARGETS \
  (((2LL << HWY_HIGHEST_TARGET_BIT_X86) - 1) & ~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | (1LL << HWY_HIGHEST_TARGET_BIT_X86)))

// The function of this name that Highway's foreach_target.h has compiled for a target.
#define CIRCOLL_ON(target, function)                                                          \
  (*::circoll::ops::function_on(target, HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX2(function), \
                                HWY_CHOOSE_SSE4(function), &HWY_STATIC_DISPATCH(function)))
