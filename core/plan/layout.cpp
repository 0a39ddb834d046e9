#include <algorithm>
#include <limits>
#include <utility>

#include "circoll/error.hpp"
#include "circoll/plan.hpp"

namespace circoll {

Layout Layout::uniform(Block user_blocks, std::int64_t segments, Count count) {
  require(user_blocks >= 1 && segments >= 1 && count >= 0,
          "layout: blocks and segments are positive, counts not negative");
  require(count == 0 || user_blocks <= std::numeric_limits<Count>::max() / count,
          "layout: the vector exceeds 2^63 elements");
  Layout layout;
  layout.user_blocks_ = user_blocks;
  layout.segments_ = segments;
  layout.uniform_count_ = count;
  return layout;
}

Layout Layout::irregular(std::vector<Count> counts, std::int64_t segments) {
  require(!counts.empty() && segments >= 1, "layout: blocks and segments are positive");
  Layout layout;
  layout.user_blocks_ = static_cast<Block>(counts.size());
  layout.segments_ = segments;
  layout.prefix_.reserve(counts.size() + 1);
  Count sum = 0;
  for (const Count count : counts) {
    require(count >= 0, "layout: counts are not negative");
    layout.prefix_.push_back(sum);
    require(count <= std::numeric_limits<Count>::max() - sum, "layout: the vector exceeds 2^63 elements");
    sum += count;
  }
  layout.prefix_.push_back(sum);
  layout.counts_ = std::move(counts);
  return layout;
}

Layout Layout::sparse(Block user_blocks, std::vector<Block> blocks, std::vector<Count> counts, std::int64_t segments) {
  require(!blocks.empty() && blocks.size() == counts.size(), "layout: one count per known block is needed");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    require(blocks[i] >= 0 && blocks[i] < user_blocks && (i == 0 || blocks[i - 1] < blocks[i]),
            "layout: the known blocks are ascending");
  }
  Layout layout = irregular(std::move(counts), segments);
  layout.user_blocks_ = user_blocks;
  layout.known_ = std::move(blocks);
  return layout;
}

Layout Layout::exchange(Rank rank, std::span<const Count> sent, std::span<const Count> received,
                        std::int64_t segments) {
  const auto p = static_cast<Rank>(sent.size());
  require(received.size() == sent.size() && rank >= 0 && rank < p, "layout: one count per rank is needed each way");
  std::vector<Block> blocks;
  std::vector<Count> counts;
  blocks.reserve(2 * sent.size());
  counts.reserve(2 * sent.size());
  for (Rank source = 0; source < p; ++source) {
    if (source != rank) {
      blocks.push_back(source * p + rank);
      counts.push_back(received[static_cast<std::size_t>(source)]);
      continue;
    }
    for (Rank to = 0; to < p; ++to) blocks.push_back(rank * p + to);
    counts.insert(counts.end(), sent.begin(), sent.end());
  }
  return sparse(p * p, std::move(blocks), std::move(counts), segments);
}

std::size_t Layout::known_below(Block user_block) const {
  return static_cast<std::size_t>(std::lower_bound(known_.begin(), known_.end(), user_block) - known_.begin());
}

std::size_t Layout::known_index(Block user_block) const {
  const std::size_t index = known_below(user_block);
  require(index < known_.size() && known_[index] == user_block, "layout: the size of a block is not known here");
  return index;
}

Count Layout::count(Block block) const {
  if (segments_ == 1) return user_count(block);
  const Count whole = user_count(block / segments_);
  const std::int64_t segment = block % segments_;
  return whole / segments_ + (segment < whole % segments_ ? 1 : 0);
}

Count Layout::segment_offset(Block block) const {
  if (segments_ == 1) return 0;
  const Count whole = user_count(block / segments_);
  const std::int64_t segment = block % segments_;
  return segment * (whole / segments_) + std::min(segment, whole % segments_);
}

Count Layout::prefix(Block block) const {
  const Block user_block = block / segments_;
  if (user_block == user_blocks_) return total();
  // At the first segment: a sparse layout knows how much stands before a block that it does not know.
  if (block % segments_ == 0) return user_prefix(user_block);
  return user_prefix(user_block) + segment_offset(block);
}

}  // namespace circoll
