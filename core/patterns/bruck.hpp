// Bruck's algorithms in digits of any base: `bruck` and `radix_bruck` of allgather and alltoall.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/forwarding.hpp"
#include "patterns/ported.hpp"
#include "patterns/trees.hpp"

namespace circoll::patterns {

/// Writes an allgather. After the level of weight u rank r has the blocks of the base u ranks from r on.
inline void allgather_by_digits(Builder& b, std::int64_t base) { gather_by_rounds(b, digit_rounds(b.size(), base)); }

/// Writes an alltoall. On the level of weight u a block goes d u ranks on, where d is that digit of its distance.
inline void alltoall_by_digits(Builder& b, std::int64_t base) {
  alltoall_by_forwarding(b, rounds_by_digits_of(b.size(), base));
}

/// The digits that are not 0 of all distances below p: the blocks that a rank sends in the alltoall.
[[nodiscard]] constexpr std::int64_t digits_below(Rank p, std::int64_t base) {
  std::int64_t digits = 0;
  for (Rank unit = 1; unit < p; unit *= base)
    digits += p - p / (unit * base) * unit - std::min(unit, p % (unit * base));
  return digits;
}

/// CriticalPath::levels of both. A message of the last level may consist of blocks that the level before did not bring.
[[nodiscard]] inline std::int64_t levels_by_digits(const Shape& shape) {
  const std::int64_t base = value_of(shape, radix_above_two);
  if (shape.size == 1) return 0;
  Rank last = 1;
  std::int64_t before = 0;
  for (; last <= (shape.size - 1) / base; last *= base) ++before;
  return before + (shape.size - last > last / base ? 1 : 0);
}

/// Algorithm::on_ports of the alltoall. A message of a level waits for the last one before that brings something which
/// it sends on.
[[nodiscard]] RoundsOnPorts alltoall_by_digits_on_ports(const Shape& shape, std::int64_t ports);

inline constexpr std::string_view rounds_by_digits = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)";

}  // namespace circoll::patterns
