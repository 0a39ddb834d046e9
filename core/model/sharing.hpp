// The price of scatter by trees between hosts, whose ranks send to all their children at once.
//
// A network shares itself among all messages under way. The critical path (terms_of) lets a rank send its messages one
// after the other, which is true in a window only (with_window).
#pragma once

#include <span>

#include "circoll/model.hpp"

namespace circoll {

/// The volume that a path of scatter(v) has in addition if messages share ports. `volumes` is what the root, or its
/// node, sends in each round. All messages of a level end together. A rank of a level sends what the root sends from
/// that level's round on. This is exact for binomial trees and a power of two of ranks. In windows and in other
/// collectives it is 0. Trees of bcast lose as much, but a pipeline is faster than any of them in any order.
[[nodiscard]] double lost_by_sharing(const Selection& selection, const Shape& shape, std::span<const double> volumes);

/// terms_of, with that volume. At most the root's schedule is built.
[[nodiscard]] Terms terms_between_hosts(const Selection& selection, Rank p, Count bytes, Rank root = 0,
                                        std::int64_t ports = 1);

/// A selection with the time of these terms.
[[nodiscard]] Ranked between_hosts(const Selection& selection, Rank p, Count bytes, const Machine& machine,
                                   Rank root = 0);

}  // namespace circoll
