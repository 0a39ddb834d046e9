// The circulant graph: index arithmetic that the circulant algorithms share, and the order of blocks in messages.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::patterns {

/// ceil(log2 p), p >= 1.
[[nodiscard]] constexpr int ceil_log2(Rank p) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(p - 1)));
}

/// The skips of the circulant graph on p ranks. They are q + 1 values, skips[0] = 1, skips[k] = ceil(skips[k + 1] / 2),
/// skips[q] = p with q = ceil(log2 p). (Listing 1 of the paper halves p rounding down, which loses a round; this is the
/// correct ceil halving.) For p = 1 the single value 1. With a base b above 2 it is skips[k] = ceil(skips[k + 1] / b)
/// and q = ceil(log_b p).
class Skips {
 public:
  explicit Skips(Rank p, Rank base = 2);

  [[nodiscard]] int q() const { return static_cast<int>(skips_.size()) - 1; }
  [[nodiscard]] Rank operator[](int k) const { return skips_[static_cast<std::size_t>(k)]; }
  /// skips[k + 1] is odd: round k must leave out one rank (the correction term epsilon_k).
  [[nodiscard]] bool odd(int k) const { return ((*this)[k + 1] & 1) != 0; }
  /// The distance that messages travel in round k of the paper's pattern: skips[k] - epsilon_k. It is also the number
  /// of new contributions, skips[k + 1] - skips[k].
  [[nodiscard]] Rank jump(int k) const { return (*this)[k + 1] - (*this)[k]; }

 private:
  std::vector<Rank> skips_;
};

/// The levels of a tree. Above a rank are as many ranks as it takes skips to reach it: the largest skip up to the rank,
/// the largest up to what is left, and so on. O(q^2).
[[nodiscard]] std::int64_t levels_of_tree(const Skips& skips);

/// a mod p in 0 .. p - 1, for a >= -p.
[[nodiscard]] constexpr Rank mod(Rank a, Rank p) { return (a % p + p) % p; }

/// The distances back to the ranks that a message of the paper's pattern can still reach. They are in the order in
/// which rounds send their blocks (Listing 5): 2^q - 1 entries. Entry j of the list names block (r - entry) mod p for
/// rank r. Round k sends the 2^(q-1-k) entries from position 2^(q-1) + ... + 2^(q-k) in the order of the first round.
[[nodiscard]] std::vector<Rank> relative_blocks(const Skips& skips);

}  // namespace circoll::patterns
