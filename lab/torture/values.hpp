// Contents of buffers, packed.
#pragma once

#include <cstddef>
#include <span>

#include "case.hpp"

namespace circoll::torture {

/// Packed base elements of a block, with values that suit the operator. Sums and products stay exact and do not
/// overflow, unless the operation is one of fractions. Different for each `stream`.
void fill_values(const Operation& operation, std::uint64_t stream, int rank, int size, std::span<std::byte> packed);

/// Bytes of the same look as anything, for what is not data.
void fill_noise(std::uint64_t seed, std::span<std::byte> bytes);

}  // namespace circoll::torture
