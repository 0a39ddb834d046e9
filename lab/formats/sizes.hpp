// Sizes of operands in bytes, for forms that have sizes in them.
#pragma once

#include <utility>
#include <vector>

#include "circoll/collectives.hpp"
#include "circoll/plan.hpp"

namespace circoll::show {

/// The bytes of a schedule's operands where the vector of docs/lab/notation.md (m) has `bytes`. User blocks differ by
/// at most one byte, and larger ones come first. In an exchange the vector of a rank is the blocks that it sends. A
/// barrier has none.
class Sizes {
 public:
  /// The schedule must outlive it.
  Sizes(const Schedule& schedule, Count bytes) : schedule_(schedule), layout_(layout_of(schedule, bytes)) {}

  [[nodiscard]] Count of(Operand operand) const {
    Count bytes = 0;
    for (const Range& range : schedule_.operand(operand)) {
      const Slot slots = schedule_.buffers[static_cast<std::size_t>(range.buffer)].slots;
      for (Slot i = 0; i < range.count; ++i)
        bytes += layout_.count(schedule_.block_of(range.buffer, (range.first + i) % slots));
    }
    return bytes;
  }

 private:
  static Layout layout_of(const Schedule& s, Count bytes) {
    if (!traits_of(s.collective).moves_data) return Layout::uniform(s.user_blocks, s.segments, 0);
    const Block parts = is_exchange(s.collective) ? s.shape.size : s.user_blocks;
    std::vector<Count> counts;
    for (Block b = 0; b < s.user_blocks; ++b) counts.push_back(bytes / parts + (b % parts < bytes % parts ? 1 : 0));
    return Layout::irregular(std::move(counts), s.segments);
  }

  const Schedule& schedule_;
  Layout layout_;
};

}  // namespace circoll::show
