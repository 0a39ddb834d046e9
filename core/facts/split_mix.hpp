// Mixed bits and numbers that look random and are the same everywhere: SplitMix64 (Steele, Lea, Flood, 2014).
#pragma once

#include <cstdint>

namespace circoll {

/// The finalizer: every bit of the result depends on every bit of x.
[[nodiscard]] constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// The generator: the mixed bits of a counter. Not for adversaries.
class SplitMix {
 public:
  /// The distance from one state to the next: 2^64 by the golden ratio.
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;

  explicit constexpr SplitMix(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return mixed_bits(state_ += step); }

 private:
  std::uint64_t state_;
};

}  // namespace circoll
