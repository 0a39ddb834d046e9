// Random numbers that are the same with every compiler and standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace circoll::torture {

/// splitmix64: a counter, hashed.
constexpr std::uint64_t hash(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// One number of several.
template <typename... Rest>
constexpr std::uint64_t hash(std::uint64_t x, Rest... rest) {
  std::uint64_t h = hash(x);
  ((h = hash(h ^ static_cast<std::uint64_t>(rest))), ...);
  return h;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    return hash(state_);
  }
  /// 0 .. n-1; n > 0.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  /// first .. last.
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool percent(int chance) { return below(100) < chance; }
  /// One element of an array.
  template <typename Array>
  const auto& pick(const Array& array) {
    return array[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(array))))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace circoll::torture
