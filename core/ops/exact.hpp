// Kernels of exact sums: vectors decide what they can, and the rest is left to ExactSum.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "circoll/types.hpp"
#include "ops/kernels.hpp"

namespace circoll::ops {

inline constexpr std::size_t most_partial_sums = 24;

/// Numbers whose exact sum is that of `numbers`. There are fewer of them. Returns 0 where vectors would lose a bit, or
/// meet an infinity or NaN. The settings are those of DefaultFloats.
std::size_t exact_partial_sums(Target target, std::span<const double> numbers,
                               std::array<double, most_partial_sums>& partial);

/// left[i] * right[i] = terms[2i] + terms[2i + 1], exactly. False where a product may underflow or is not finite, or
/// where the processor does not multiply and add in one step. At most 512 numbers, with the settings of DefaultFloats.
bool exact_products(Target target, std::span<const double> left, std::span<const double> right,
                    std::array<double, 1024>& terms);

/// Rows of float or double, in which `stride` is counted.
struct Rows {
  const void* data = nullptr;
  std::size_t stride = 0;
  std::size_t row_count = 0;
};
/// dst[i] = the sum of element i of all rows, rounded once. dst may be the first row.
using SumOfRows = void (*)(void* dst, const Rows& rows, std::size_t elements);
/// Nothing for other types. A complex number is two elements.
SumOfRows exact_sum_of_rows(Target target, Type type);

/// The same for one element, with the settings of DefaultFloats.
template <typename Float>
Float exact_column(const Float* column, std::size_t stride, std::size_t rows);

/// The sum of two operands, rounded once; its NaN have one pattern, whatever the operands had.
ReduceKernel exact_sum_of_two(Target target, Type type);

}  // namespace circoll::ops
