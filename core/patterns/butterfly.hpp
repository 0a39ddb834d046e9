// Vector halving with distance doubling, and back.
//
// The vector consists of 2^K segments of one or more blocks, K >= levels. After k exchanges place x holds the
// segments from halved_first(x, k, 2^K) on, 2^(K-k) of them, combined over the 2^k places that agree with x
// but for the k lowest bits. Places in order are ranks in order, so operands combine in rank order.
#pragma once

#include <functional>

#include "circoll/builder.hpp"
#include "patterns/power_of_two.hpp"

namespace circoll::patterns {

/// A rank's view of the butterfly that it is a part of.
struct Butterfly {
  Rank place = 0;
  int levels = 0;             ///< there are 2^levels places
  std::int64_t segments = 1;  ///< of the vector; 2^levels or a larger power of two
  std::function<Rank(Rank place)> rank_at{};
  /// Number of blocks before a segment.
  std::function<std::int64_t(std::int64_t segment)> blocks_before{};
  /// The place of segments that this rank has combined or received; empty if they stay where the message arrived.
  std::function<Region(std::int64_t first, std::int64_t count)> home{};
  /// The first exchange of halve() carries the whole vector, and what is not combined stays where it arrived: a copy.
  bool whole_first = false;

  /// The blocks of segments, as a part of a region that holds the segments from `region_first` on.
  [[nodiscard]] Region slice(const Builder& b, const Region& region, std::int64_t region_first, std::int64_t first,
                             std::int64_t count) const;
};

/// Writes `levels` rounds. `held` is the own vector; returned is where the segments of the place lie in the end.
[[nodiscard]] Region halve(Builder& builder, const Butterfly& butterfly, Region held);

/// Writes the same rounds in opposite order, from the segments of the place to the whole vector, in `home`.
void spread(Builder& builder, const Butterfly& butterfly, Region held);

/// Writes the rounds of the distances 2^(levels-1), ..., 2^last of a binomial gather towards the place
/// `target`. Returned is what a rank holds that still takes part; empty at the others.
[[nodiscard]] Region collect(Builder& builder, const Butterfly& butterfly, Region held, Rank target, int last = 0);

}  // namespace circoll::patterns
