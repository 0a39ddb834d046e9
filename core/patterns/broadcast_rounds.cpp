#include "patterns/broadcast_rounds.hpp"

namespace circoll::patterns {
namespace {

/// The smallest skip in the greedy decomposition of a rank into skips. It is the first block that the rank gets, and
/// passes on. q for the root.
int base_block(Rank rank, const Skips& skips) {
  for (int k = skips.q() - 1; k >= 0; --k) {
    if (rank < skips[k]) continue;
    rank -= skips[k];
    if (rank == 0) return k;
  }
  return skips.q();
}

/// Searches the rank from which a new block reaches this one in round k, for k = 0, 1, .... It is the largest sum of
/// distinct unused skips, below the sum found for k - 1, that is at most rank + p - skips[k]. The smallest skip of the
/// sum is the block; it is then used up. Depth-first over skips in descending order, each visited O(1) times overall.
class ReceiveSearch {
 public:
  ReceiveSearch(Rank rank, const Skips& skips)
      : skips_(skips), q_(skips.q()), target_(rank + skips[skips.q()]), below_(2 * skips[skips.q()]) {
    for (int i = 0; i <= q_; ++i) next_[index(i)] = static_cast<std::int16_t>(i - 1);
    for (int i = 0; i <= q_; ++i) previous_[index(i)] = static_cast<std::int16_t>(i + 1);
    remove(base_block(rank, skips));
  }

  /// entries[k] = the index found for round k.
  void run(RoundBlocks& entries) { descend(0, head_, 0, entries); }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  void remove(int i) {
    const std::int16_t before = previous_[index(i)];
    const std::int16_t after = next_[index(i)];
    if (i == head_) {
      head_ = after;
    } else {
      next_[index(before)] = after;
    }
    if (after >= 0) previous_[index(after)] = before;
  }

  /// Extends the sum `sum` by the unused skips from `i` downwards, filling in rounds from k on. Returns the next one.
  int descend(Rank sum, int i, int k, RoundBlocks& entries) {
    while (i >= 0 && k < q_) {
      const Rank extended = sum + skips_[i];
      if (extended <= target_ - skips_[k] && extended < below_) {
        if (extended <= target_ - skips_[k + 1]) {
          k = descend(extended, i, k, entries);
          if (k == q_) return k;
        }
        if (sum > target_ - skips_[k + 1]) return k;  // the shorter sum itself serves this round
        below_ = extended;
        entries[index(k)] = static_cast<std::int16_t>(i);
        ++k;
        remove(i);
      }
      i = next_[index(i)];
    }
    return k;
  }

  const Skips& skips_;
  int q_;
  Rank target_;
  Rank below_;
  int head_ = skips_.q();
  // Small: this runs p times where the rounds of all ranks are needed.
  std::array<std::int16_t, most_rounds + 1> next_{};
  std::array<std::int16_t, most_rounds + 1> previous_{};
};

}  // namespace

RoundBlocks blocks_received(Rank rank, const Skips& skips) {
  RoundBlocks entries;
  const int q = skips.q();
  if (q == 0) return entries;
  ReceiveSearch(rank, skips).run(entries);
  const int base = base_block(rank, skips);
  for (int k = 0; k < q; ++k) {
    auto& entry = entries[static_cast<std::size_t>(k)];
    entry = static_cast<std::int16_t>(entry == q ? base : entry - q);
  }
  return entries;
}

RoundBlocks blocks_sent(Rank rank, const Skips& skips) {
  RoundBlocks entries{};
  const int q = skips.q();
  const Rank p = skips[q];
  if (rank == 0) {
    for (int k = 0; k < q; ++k) entries[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(k);
    return entries;
  }
  // From the last round to the first, the rank is located in an ever smaller range [0, end) of ranks. In the lower or
  // the upper part of that range all ranks send the same block. Near the borders the receiver's own schedule decides.
  const int base = base_block(rank, skips);
  Rank place = rank;
  Rank end = p;
  int common = base;
  for (int k = q - 1; k > 0; --k) {
    const Rank s = skips[k];
    bool border = false;
    if (place < s) {
      border = !(place + s < end || end < skips[k - 1] || (k == 1 && base > 0));
      if (!border) entries[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(common);
      if (end > s) end = s;
    } else {
      common = k - q;
      end -= s;
      border = !(place > s || place <= end || k == 1 || end < skips[k - 1]);
      if (!border) entries[static_cast<std::size_t>(k)] = static_cast<std::int16_t>(common);
      place -= s;
    }
    if (border)
      entries[static_cast<std::size_t>(k)] = blocks_received((rank + s) % p, skips)[static_cast<std::size_t>(k)];
  }
  entries[0] = static_cast<std::int16_t>(base - q);
  return entries;
}

OneWayRounds::OneWayRounds(std::int64_t n, const Skips& skips) : q_(skips.q()) {
  const Rank p = skips[q_];
  if (p <= 2) {
    first_phase_ = q_ * n;
    return;
  }
  const auto first_phase = static_cast<int>((n - 1) % q_);
  first_phase_ = first_phase == 0 ? q_ : first_phase;
  if (first_phase == 0) return;  // in the second phase everybody has something to send
  // A rank sends and receives in the second phase if neither entry is of a block older than the first phase.
  std::array<int, most_rounds> newest{};  // the older one of the two entries, at the rank where it is newest
  newest.fill(-q_ - 1);
  const auto look_at = [&](Rank v) {
    const RoundBlocks received = blocks_received(v, skips);
    const RoundBlocks sent = blocks_sent(v, skips);
    for (int k = 0; k < q_; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (v + skips[k] != p) newest[at] = std::max(newest[at], int{std::min(received[at], sent[at])});
    }
  };
  for (int k = 0; k < q_; ++k) {
    look_at(skips[k]);
    if (skips[k] + 1 < p) look_at(skips[k] + 1);
  }
  for (int k = 0; k < q_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    second_phase_[at] = newest[at] < -first_phase;
  }
}

}  // namespace circoll::patterns
