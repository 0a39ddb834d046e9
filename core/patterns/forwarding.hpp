// All-to-all by forwarding: blocks of several ranks travel together, over a few distances.
#pragma once

#include <cstdint>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// A round in which rank r sends to r + skip and receives from r - skip. It sends every block that still has to go one
/// of `distances` (>= skip). It gets blocks that still have to go distance - skip then.
struct ForwardingRound {
  Rank skip = 1;
  std::vector<Rank> distances{};
};

/// Writes an alltoall by these rounds, which must bring every distance 1 .. p-1 to 0. A block that has arrived goes
/// into its place in the result, others wait in scratch. Shape: one block from every rank to every rank.
void alltoall_by_forwarding(Builder& builder, const std::vector<ForwardingRound>& rounds);

}  // namespace circoll::patterns
