// A set of blocks that stays small when it holds long intervals, and fast when it holds many single blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "circoll/schedule.hpp"

namespace circoll {

/// Intervals of blocks [first, end) within [0, blocks). Dense (one byte per block) if so asked: then every
/// call is O(interval); else O(log intervals).
class BlockSet {
 public:
  BlockSet(Block blocks, bool dense) : dense_(dense ? static_cast<std::size_t>(blocks) : 0) {}

  void insert(Block first, Block end) {
    if (first >= end) return;
    if (!dense_.empty()) {
      for (Block b = first; b < end; ++b) dense_[static_cast<std::size_t>(b)] = 1;
      return;
    }
    auto next = intervals_.upper_bound(first);
    if (next != intervals_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= first) {
        first = before->first;
        end = std::max(end, before->second);
        next = intervals_.erase(before);
      }
    }
    while (next != intervals_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = intervals_.erase(next);
    }
    intervals_.emplace_hint(next, first, end);
  }

  /// Is `block` in the set; `until` is the end of the run of equal answers, at most `end`.
  [[nodiscard]] bool contains(Block block, Block end, Block& until) const {
    if (!dense_.empty()) {
      const bool in = dense_[static_cast<std::size_t>(block)] != 0;
      until = block + 1;
      while (until < end && (dense_[static_cast<std::size_t>(until)] != 0) == in) ++until;
      return in;
    }
    const auto next = intervals_.upper_bound(block);
    if (next != intervals_.begin()) {
      const auto& before = *std::prev(next);
      if (before.second > block) {
        until = std::min(end, before.second);
        return true;
      }
    }
    until = next == intervals_.end() ? end : std::min(end, next->first);
    return false;
  }

  /// The set as intervals in ascending order.
  [[nodiscard]] std::vector<std::pair<Block, Block>> intervals() const {
    if (dense_.empty()) return {intervals_.begin(), intervals_.end()};
    std::vector<std::pair<Block, Block>> result;
    const auto size = static_cast<Block>(dense_.size());
    for (Block b = 0; b < size;) {
      Block until = 0;
      if (contains(b, size, until)) result.emplace_back(b, until);
      b = until;
    }
    return result;
  }

 private:
  std::vector<std::uint8_t> dense_;
  std::map<Block, Block> intervals_;
};

}  // namespace circoll
