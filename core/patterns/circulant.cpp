#include "patterns/circulant.hpp"

#include <algorithm>

namespace circoll::patterns {

Skips::Skips(Rank p, Rank base) {
  skips_.reserve(static_cast<std::size_t>(ceil_log2(p)) + 1);
  for (; p > 1; p = (p + base - 1) / base) skips_.push_back(p);
  skips_.push_back(1);
  std::reverse(skips_.begin(), skips_.end());
}

namespace {

void append(Rank distance, int from, const Skips& skips, std::vector<Rank>& blocks) {
  for (int k = from; k < skips.q(); ++k) {
    const Rank reached = distance + skips.jump(k);
    blocks.push_back(reached);
    append(reached, k + 1, skips, blocks);
  }
}

}  // namespace

std::vector<Rank> relative_blocks(const Skips& skips) {
  std::vector<Rank> blocks;
  blocks.reserve((std::size_t{1} << skips.q()) - 1);
  append(0, 0, skips, blocks);
  return blocks;
}

}  // namespace circoll::patterns
