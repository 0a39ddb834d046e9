// The results of collectives, computed by one rank from the inputs of all.
#pragma once

#include <cstddef>
#include <vector>

#include "instance.hpp"

namespace circoll::torture {

/// The result of this rank: its blocks, packed.
[[nodiscard]] std::vector<std::vector<std::byte>> serial_results(const Instance& mine, int execution);

/// A sum of floating-point numbers, in more digits, and the bounds of any order of summation. A bound is the distance
/// from it.
struct Sums {
  std::vector<long double> values, bounds;
};
[[nodiscard]] Sums serial_sums(const Instance& mine, int execution);

}  // namespace circoll::torture
