// Vector halving with distance doubling, and back; and places for butterflies where p is no power of two.
//
// The vector consists of 2^K segments of one or more blocks, K >= levels. After k exchanges place x holds the
// segments from halved_first(x, k, 2^K) on, 2^(K-k) of them, combined over the 2^k places that agree with x
// but for the k lowest bits. Places in order are ranks in order, so operands combine in rank order.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>

#include "circoll/builder.hpp"
#include "circoll/types.hpp"

namespace circoll::patterns {

/// floor(log2 p), p >= 1.
[[nodiscard]] constexpr int floor_log2(Rank p) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p))) - 1;
}

/// 2^floor(log2 p), p >= 1.
[[nodiscard]] constexpr Rank power_up_to(Rank p) {
  return static_cast<Rank>(std::bit_floor(static_cast<std::uint64_t>(p)));
}

/// p' places of p ranks, p/2 <= p' <= p. The first 2 (p - p') ranks form pairs of neighbours, 2i and 2i + 1. One of
/// each pair keeps place i, and the other is removed. That is the odd one, unless it is `wanted` (a root, which then
/// changes roles with its neighbour). The order of places is that of ranks.
class PairFolding {
 public:
  constexpr PairFolding(Rank p, Rank places, Rank wanted = 0) : places_(places), pairs_(p - places) {
    if (wanted < 2 * pairs_ && wanted % 2 == 1) swapped_ = wanted / 2;
  }

  [[nodiscard]] constexpr Rank places() const { return places_; }  ///< p'
  [[nodiscard]] constexpr Rank pairs() const { return pairs_; }    ///< p - p'
  [[nodiscard]] constexpr bool paired(Rank rank) const { return rank < 2 * pairs_; }
  [[nodiscard]] constexpr Rank partner(Rank rank) const { return rank ^ 1; }
  [[nodiscard]] constexpr bool removed(Rank rank) const { return paired(rank) && rank_at(rank / 2) != rank; }
  /// The place of a rank; of its pair, if it is removed.
  [[nodiscard]] constexpr Rank place_of(Rank rank) const { return paired(rank) ? rank / 2 : rank - pairs_; }
  [[nodiscard]] constexpr Rank rank_at(Rank place) const {
    if (place >= pairs_) return place + pairs_;
    return 2 * place + (place == swapped_ ? 1 : 0);
  }
  /// Number of ranks whose places are below `place`: the first rank of its pair.
  [[nodiscard]] constexpr Rank ranks_below(Rank place) const { return place < pairs_ ? 2 * place : place + pairs_; }

 private:
  Rank places_;
  Rank pairs_;
  Rank swapped_ = -1;
};

/// The same for a power of two, p' = 2^floor(log2 p).
class Folding : public PairFolding {
 public:
  explicit constexpr Folding(Rank p, Rank wanted = 0) : PairFolding(p, power_up_to(p), wanted) {}
  [[nodiscard]] constexpr int levels() const { return floor_log2(places()); }  ///< log2 p'
};

/// Vector halving with distance doubling: after k steps, place x holds n / 2^k blocks from this one on. Step
/// k, with x xor 2^k, keeps the half that bit k of x names.
[[nodiscard]] constexpr std::int64_t halved_first(Rank x, int k, std::int64_t n) {
  std::int64_t first = 0;
  for (int i = 0; i < k; ++i) first += ((x >> i) & 1) * (n >> (i + 1));
  return first;
}

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

/// Writes `levels` rounds. `held` is the own vector. Returns the place of the segments at the end.
[[nodiscard]] Region halve(Builder& builder, const Butterfly& butterfly, Region held);

/// Writes the same rounds in opposite order, from the segments of the place to the whole vector, in `home`.
void spread(Builder& builder, const Butterfly& butterfly, Region held);

/// Writes the rounds of the distances 2^(levels-1), ..., 2^last of a binomial gather towards the place `target`.
/// Returns the blocks of a rank that still takes part; empty at the others.
[[nodiscard]] Region collect(Builder& builder, const Butterfly& butterfly, Region held, Rank target, int last = 0);

}  // namespace circoll::patterns
