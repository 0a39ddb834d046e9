// Index arithmetic of butterflies, for algorithms that want a power of two, and their treatment of other p.
#pragma once

#include <bit>
#include <cstdint>

#include "circoll/types.hpp"

namespace circoll::patterns {

/// floor(log2 p), p >= 1.
[[nodiscard]] constexpr int floor_log2(Rank p) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p))) - 1;
}

/// The places of a power of two of ranks, p' = 2^floor(log2 p). The first 2 (p - p') ranks form pairs of
/// neighbours, 2i and 2i + 1, of which one keeps place i and the other one is removed: the odd one, unless it
/// is `wanted` (a root, which then changes roles with its neighbour). The order of places is that of ranks.
class Folding {
 public:
  explicit constexpr Folding(Rank p, Rank wanted = 0)
      : levels_(floor_log2(p)), power_(Rank{1} << levels_), pairs_(p - power_) {
    if (wanted < 2 * pairs_ && wanted % 2 == 1) swapped_ = wanted / 2;
  }

  [[nodiscard]] constexpr int levels() const { return levels_; }  ///< log2 p'
  [[nodiscard]] constexpr Rank power() const { return power_; }   ///< p'
  [[nodiscard]] constexpr Rank pairs() const { return pairs_; }   ///< p - p'
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
  int levels_;
  Rank power_;
  Rank pairs_;
  Rank swapped_ = -1;
};

/// Vector halving with distance doubling: after k steps, place x holds n / 2^k blocks from this one on. Step
/// k, with x xor 2^k, keeps the half that bit k of x names.
[[nodiscard]] constexpr std::int64_t halved_first(Rank x, int k, std::int64_t n) {
  std::int64_t first = 0;
  for (int i = 0; i < k; ++i) first += ((x >> i) & 1) * (n >> (i + 1));
  return first;
}

}  // namespace circoll::patterns
