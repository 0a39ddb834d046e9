// Bine: binomial trees and butterflies whose distances are a third shorter: 1, 1, 3, 5, 11, ...
//
// Source: D. De Sensi et al.: Swing: Short-cutting Rings for Higher Bandwidth Allreduce (NSDI 2024), and Bine Trees:
// Enhancing Collective Operations by Optimizing Communication Locality (SC 2025).
#pragma once

#include <vector>

#include "circoll/types.hpp"
#include "patterns/circulant.hpp"

namespace circoll::patterns {

/// The distance from an even rank to its partner in exchange t. From an odd rank it is the opposite one. It is
/// (1 - (-2)^(t+1)) / 3, that is 1, -1, 3, -5, 11, -21, ...
[[nodiscard]] constexpr Rank bine_distance(int t) {
  const Rank power = t < 0 ? 1 : Rank{2} << t;
  return t % 2 == 0 ? (1 + power) / 3 : (1 - power) / 3;
}

/// The partner of a rank in exchange t, among an even number p of ranks in a ring. Exchanges are mutual.
[[nodiscard]] constexpr Rank bine_partner(Rank rank, int t, Rank p) {
  return mod(rank % 2 == 0 ? rank + bine_distance(t) : rank - bine_distance(t), p);
}

/// Bine's tree for any p. An interval of ranks is halved: the holder of the data keeps the larger half, and a rank of
/// the other half gets the data. Halves mirror one another. The two ranks are about a third of the interval apart, and
/// those of a binomial tree are half of it apart. For a power of two it is the tree of the source.
class BineTree {
 public:
  /// A round of one rank: the parent gives the child the data. The `ranks` ranks from `first` on will get it. All are
  /// relative to the root, and negative ones stand before it. ranks = 0: the rank is idle.
  struct Edge {
    Rank parent = 0;
    Rank child = 0;
    Rank first = 0;
    Rank ranks = 0;
  };

  /// The tree of p ranks, seen from the one that is `v` ranks after the root, 0 <= v < p. O(log^2 p)
  BineTree(Rank p, Rank v) : v_(v) {
    bool mirrored = p > 1 && ceil_log2(p) % 2 == 0;
    interval_ = {.first = mirrored ? offset(p) - (p - 1) : -offset(p), .ranks = p};
    if (v_ >= p + interval_.first) v_ -= p;
    Edge interval = interval_;
    for (int round = ceil_log2(p); round > 0; --round) {
      const Rank kept = (interval.ranks + 1) / 2;
      const Rank given = interval.ranks - kept;
      const Rank first = mirrored ? interval.first : interval.first + kept;
      const Rank child = mirrored ? first + given - 1 - offset(given) : first + offset(given);
      const bool takes_part = given > 0 && (v_ == interval.parent || v_ == child);
      rounds_.push_back(takes_part ? Edge{interval.parent, child, first, given} : Edge{});
      if (given > 0 && v_ >= first && v_ < first + given) {
        interval = {.parent = child, .first = first, .ranks = given};
      } else {
        if (mirrored) interval.first += given;
        interval.ranks = kept;
        mirrored = !mirrored;
      }
      if (takes_part && v_ == child) interval_ = {.first = first, .ranks = given};
    }
  }

  /// This rank, relative to the root.
  [[nodiscard]] Rank place() const { return v_; }
  /// The rounds from the root on: ceil(log2 p) of them.
  [[nodiscard]] const std::vector<Edge>& rounds() const { return rounds_; }
  /// The ranks of this rank's subtree: Edge::first and Edge::ranks.
  [[nodiscard]] const Edge& subtree() const { return interval_; }

  /// Ranks between an end of an interval of n and its holder, whose half is at that end: about n/3.
  [[nodiscard]] static constexpr Rank offset(Rank n) {
    Rank sum = 0;
    for (Rank sign = 1; n > 1; sign = -sign) {
      n = (n + 1) / 2;
      sum += sign * (n - 1);
    }
    return sum;
  }

 private:
  Edge interval_;
  Rank v_;
  std::vector<Edge> rounds_;
};

}  // namespace circoll::patterns
