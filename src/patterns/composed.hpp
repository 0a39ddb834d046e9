// Collectives composed of others.
#pragma once

#include <string_view>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// Writes an allreduce: the vector cut into p parts, a reduce_scatter of the parts, an allgather(v) of the
/// results in place. Ids name the two algorithms.
void allreduce_by_parts(Builder& builder, std::string_view reduce_scatter_id, std::string_view allgather_id);

/// Its cost: the sum of the two, the second in place.
[[nodiscard]] Cost cost_by_parts(const Shape& shape, std::string_view reduce_scatter_id, std::string_view allgather_id);

}  // namespace circoll::patterns
