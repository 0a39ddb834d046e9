// The instruction sets that kernels are compiled for, and which of them this processor has.
//
// Highway's own dispatch is not used. It needs the library libhwy, which measures the clock for 4 milliseconds in every
// process that loads it (1.0 and 1.2). This way its headers are enough.
#pragma once

#include <array>

namespace circoll::ops {

/// From the least to the best. The baseline is what the compiler takes for granted. For the others the processor is
/// asked.
enum class Target { baseline, sse4, avx2, avx512 };
inline constexpr std::array<Target, 4> all_targets{Target::baseline, Target::sse4, Target::avx2, Target::avx512};

/// True if this processor, and its system, run the target's instructions.
[[nodiscard]] bool is_usable(Target target);
/// The best target that is usable. It is found once.
[[nodiscard]] Target best_target();

}  // namespace circoll::ops

// Highway reads this with its first header. It leaves out the targets of x86 that are not in the list: what they would
// add is not worth their code. The highest bit is SSE2.
#define HWY_DISABLED_TARGETS \
  (((2LL << HWY_HIGHEST_TARGET_BIT_X86) - 1) & ~(HWY_AVX3 | HWY_AVX2 | HWY_SSE4 | (1LL << HWY_HIGHEST_TARGET_BIT_X86)))
