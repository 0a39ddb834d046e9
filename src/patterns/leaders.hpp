// Allreduce by the leaders of nodes: into them, among them, and back.
#pragma once

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// Ids of the algorithms that it is made of; the shape's parameters are theirs too.
struct LeaderParts {
  const char* to_leader;    ///< a reduce, inside every node
  const char* between;      ///< an allreduce among the leaders
  const char* from_leader;  ///< a bcast, inside every node
};

void allreduce_by_leaders(Builder& builder, const LeaderParts& parts);
[[nodiscard]] Cost cost_by_leaders(const LeaderParts& parts, const Shape& shape);
[[nodiscard]] CriticalPath path_by_leaders(const LeaderParts& parts, const Shape& shape);

}  // namespace circoll::patterns
