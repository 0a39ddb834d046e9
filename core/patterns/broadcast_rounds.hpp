// The round-optimal broadcast of n blocks on the circulant graph: which block goes where in which round.
//
// Source: J. L. Traff, "Fast(er) construction of round-optimal n-block broadcast schedules" (CLUSTER 2022)
// and arXiv 2407.18004. Ranks are relative to the root. In round k of a phase of q rounds, rank r sends to r
// + skips[k] and receives from r - skips[k]. Each entry is a block number relative to the phase: non-negative
// ones are new, negative ones are blocks of the phase before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "patterns/circulant.hpp"

namespace circoll::patterns {

inline constexpr std::size_t most_rounds = 64;              // q <= 62 for 64-bit ranks
using RoundBlocks = std::array<std::int16_t, most_rounds>;  // entries lie in -q .. q

/// Block received in each of the q rounds of a phase. O(q) time, no allocation.
[[nodiscard]] RoundBlocks blocks_received(Rank rank, const Skips& skips);
/// Block sent in each of the q rounds of a phase. O(q) time but for a few rounds that ask for the receiver's blocks.
[[nodiscard]] RoundBlocks blocks_sent(Rank rank, const Skips& skips);

/// The rounds of a broadcast of n blocks. There are n - 1 + q of them, beginning in the middle of a phase such that
/// the last one ends a phase. Calls f(k, shift) per round: block numbers are entry + shift, at most n - 1; below
/// zero: none.
template <typename F>
void each_broadcast_round(std::int64_t n, int q, F&& f) {
  if (q == 0) return;
  const std::int64_t skipped = (q - (n - 1) % q) % q;
  std::int64_t shift = -skipped;
  for (std::int64_t i = skipped; i < skipped + n - 1 + q; ++i) {
    const auto k = static_cast<int>(i % q);
    f(k, shift);
    if (k == q - 1) shift += q;
  }
}

/// The rounds of a broadcast of n blocks in which no rank both sends and receives. In the first phase nobody can: ranks
/// pass their first block on later than they get it. From the third one on all ranks have blocks to send. In the second
/// one it depends on how far the newest blocks have come. The ranks skips[k] and skips[k] + 1 tell: that is not proven,
/// but was found true of all p <= 20000, and is proven with the schedules wherever they are verified.
class OneWayRounds {
 public:
  /// O(log^2 p)
  OneWayRounds(std::int64_t n, const Skips& skips);

  [[nodiscard]] bool operator[](std::int64_t round) const {
    if (round < first_phase_) return true;
    return round < first_phase_ + q_ && second_phase_[static_cast<std::size_t>(round - first_phase_)];
  }
  [[nodiscard]] std::int64_t count() const {
    return first_phase_ + std::count(second_phase_.begin(), second_phase_.end(), true);
  }

 private:
  int q_;
  std::int64_t first_phase_ = 0;  // its rounds; all, where there are no other ones
  std::array<bool, most_rounds> second_phase_{};
};

}  // namespace circoll::patterns
