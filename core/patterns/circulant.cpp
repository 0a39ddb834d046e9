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

std::int64_t levels_of_tree(const Skips& skips) {
  std::vector<std::int64_t> below{0};  // for each skip, the most levels of the ranks below it
  const auto most = [&](Rank ranks) {
    std::int64_t most = 0;
    std::int64_t above = 0;  // levels of the rank from which these are counted
    for (int k = static_cast<int>(below.size()) - 1; ranks > 1; ++above) {
      while (skips[k] >= ranks) --k;
      most = std::max(most, above + below[static_cast<std::size_t>(k)]);
      ranks -= skips[k];
    }
    return std::max(most, above);
  };
  for (int k = 1; k <= skips.q(); ++k) below.push_back(most(skips[k]));
  return below.back();
}

std::vector<Rank> relative_blocks(const Skips& skips) {
  std::vector<Rank> blocks;
  blocks.reserve((std::size_t{1} << skips.q()) - 1);
  append(0, 0, skips, blocks);
  return blocks;
}

}  // namespace circoll::patterns
