#include "patterns/double_tree.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

namespace circoll::patterns {
namespace {

/// Every second round from `first` to `end`.
struct EverySecondRound {
  std::int64_t first;
  std::int64_t end;

  friend bool operator<(const EverySecondRound& a, const EverySecondRound& b) {
    return std::tuple(a.first % 2, a.first) < std::tuple(b.first % 2, b.first);
  }
};

}  // namespace

std::int64_t DoubleTree::two_way_rounds(std::int64_t n) const {
  std::vector<EverySecondRound> windows;
  const auto look_at = [&](int tree, Rank node) {
    const Rank v = rank_at(tree, node);
    for (Rank child = 2 * node; child <= std::min(2 * node + 1, last_); ++child) {
      const std::int64_t sends = start(tree, child);
      for (int from = 0; from < 2; ++from) {
        const std::int64_t receives = start(from, node_of(from, v));
        const EverySecondRound window{std::max(sends, receives), std::min(sends, receives) + 2 * (n - 1)};
        if ((sends - receives) % 2 == 0 && window.first <= window.end) windows.push_back(window);
      }
    }
  };
  for (int tree = 0; tree < 2; ++tree) {
    for (Rank first = 1; first <= inner_; first *= 2) {
      const Rank last = std::min(2 * first - 1, inner_);
      for (const Rank node : std::array{first, first + 1, last - 2, last - 1, last}) {
        if (node >= first && node <= last) look_at(tree, node);
      }
    }
  }
  std::sort(windows.begin(), windows.end());
  std::int64_t rounds = 0;
  EverySecondRound before{-2, -2};
  for (const EverySecondRound& window : windows) {
    if (window.first % 2 != before.first % 2) before = {window.first, window.first - 2};
    const std::int64_t fresh = (window.end - std::max(window.first, before.end + 2)) / 2 + 1;
    if (window.end <= before.end) continue;
    rounds += fresh;
    before.end = window.end;
  }
  return rounds;
}

}  // namespace circoll::patterns
