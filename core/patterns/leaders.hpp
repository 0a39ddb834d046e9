// Allreduce by the leaders of nodes: into them, among them, and back.
#pragma once

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// The parameter of the trees inside nodes, in which a rank has radix - 1 children per level.
inline constexpr ParamDeclaration inner_radix{.name = "radix",
                                              .minimum = 2,
                                              .maximum = 1 << 20,
                                              .fallback = 2,
                                              .summary = "base of the digits of a rank in the trees inside nodes"};

/// Writes an allreduce of nodes and their leaders. Every node combines its contributions at its leader, in rank
/// order; the leaders run the allreduce `between`, in place; each leader spreads the result on its node. Parameters:
/// cores, inner_radix.
void allreduce_by_leaders(Builder& builder, const char* between);
[[nodiscard]] Cost cost_by_leaders(const char* between, const Shape& shape);
[[nodiscard]] CriticalPath path_by_leaders(const char* between, const Shape& shape);

}  // namespace circoll::patterns
