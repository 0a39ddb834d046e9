// Hashes, and numbers that look random and are the same everywhere.
//
// One hash is the same in every process, to compare values of ranks. A quick one is for tables. The numbers are those
// of SplitMix64 (Steele, Lea, Flood, 2014).
#pragma once

#include <cstdint>
#include <string_view>

namespace circoll {

/// The hash of Fowler, Noll and Vo (FNV-1a, 64 bits) over a sequence of numbers and texts. Not for adversaries.
class Hash {
 public:
  Hash& add(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) add_byte(number >> shift & 0xffU);
    return *this;
  }
  /// The length is part of it, so that parts do not run into one another.
  Hash& add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    return add(text.size());
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

/// A hash of words for the tables of one process. It takes a few cycles a word, and all its bits are good.
class QuickHash {
 public:
  QuickHash& add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15ULL;
    value_ ^= value_ >> 29U;
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

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
