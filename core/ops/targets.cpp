#include "ops/kernels.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace circoll::ops {
namespace {

#if defined(__x86_64__)

/// Conversions of half precision, after which not every compiler's __builtin_cpu_supports can ask.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// The instructions that Highway lets the compiler use for its targets: HWY_TARGET_STR_SSE4, _AVX2 and _AVX3.
bool has_sse4() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("aes");
}

bool has_avx2() {
  return has_sse4() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") && has_f16c();
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

#else

bool has_sse4() { return false; }
bool has_avx2() { return false; }
bool has_avx512() { return false; }

#endif

}  // namespace

bool is_usable(Target target) {
  switch (target) {
    case Target::baseline:
      return true;
    case Target::sse4:
      return has_sse4();
    case Target::avx2:
      return has_avx2();
    case Target::avx512:
      return has_avx512();
  }
  return false;
}

Target best_target() {
  static const Target best = *std::find_if(all_targets.rbegin(), all_targets.rend(), is_usable);
  return best;
}

}  // namespace circoll::ops
