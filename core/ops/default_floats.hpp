// The floating-point settings that exact sums rely on, whatever a program has set for itself.
#pragma once

#include <cfenv>

namespace circoll::ops {

/// As long as it lives, the processor rounds to nearest, keeps subnormal numbers, and traps nothing. A program that was
/// linked with -ffast-math, or that traps overflows, has other settings, which come back with their flags.
class DefaultFloats {
 public:
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;
#if defined(__x86_64__)
  DefaultFloats() : before_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(usual); }
  ~DefaultFloats() { __builtin_ia32_ldmxcsr(before_); }
#else
  DefaultFloats() {
    std::feholdexcept(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloats() { std::fesetenv(&before_); }
#endif

 private:
#if defined(__x86_64__)
  static constexpr unsigned usual = 0x1F80;
  unsigned before_;
#else
  std::fenv_t before_{};
#endif
};

}  // namespace circoll::ops
