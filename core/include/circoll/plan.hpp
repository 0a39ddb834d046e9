// A schedule bound to sizes: every step as byte offsets into three memory areas. Bound once, run many times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/dependencies.hpp"
#include "circoll/schedule.hpp"

namespace circoll {

/// Element counts of the user blocks of a schedule, and of their segments.
class Layout {
 public:
  /// `count` elements in each of `user_blocks` user blocks.
  static Layout uniform(Block user_blocks, std::int64_t segments, Count count);
  /// counts[i] elements in user block i.
  static Layout irregular(std::vector<Count> counts, std::int64_t segments);
  /// Some of `user_blocks` user blocks, of which a rank knows no others: blocks[i], ascending, has counts[i] elements.
  /// A schedule bound to it must touch no other block.
  static Layout sparse(Block user_blocks, std::vector<Block> blocks, std::vector<Count> counts, std::int64_t segments);
  /// The blocks of an alltoallv that `rank` sends or receives, sent[i] elements to rank i and received[i] from it. A
  /// direct algorithm touches no others. Of the block to itself sent[rank] counts.
  static Layout exchange(Rank rank, std::span<const Count> sent, std::span<const Count> received,
                         std::int64_t segments);

  [[nodiscard]] Block user_blocks() const { return user_blocks_; }   ///< as Schedule::user_blocks
  [[nodiscard]] std::int64_t segments() const { return segments_; }  ///< parts of every user block
  [[nodiscard]] Count user_count(Block user_block) const {
    if (!known_.empty()) return counts_[known_index(user_block)];
    return counts_.empty() ? uniform_count_ : counts_[static_cast<std::size_t>(user_block)];
  }
  /// Elements of a block: segments of a user block differ by at most one element, larger ones first.
  [[nodiscard]] Count count(Block block) const;
  /// First element of a block within its user block.
  [[nodiscard]] Count segment_offset(Block block) const;
  /// Elements in user blocks 0 .. user_block - 1, of those that are known.
  [[nodiscard]] Count user_prefix(Block user_block) const {
    if (!known_.empty()) return prefix_[known_below(user_block)];
    return prefix_.empty() ? user_block * uniform_count_ : prefix_[static_cast<std::size_t>(user_block)];
  }
  /// Elements in blocks 0 .. block - 1; block may be equal to the number of blocks.
  [[nodiscard]] Count prefix(Block block) const;
  [[nodiscard]] Count total() const { return user_prefix(user_blocks_); }  ///< elements of the whole vector
  /// True if all user blocks are known to have the same count.
  [[nodiscard]] bool is_uniform() const { return counts_.empty(); }

 private:
  Block user_blocks_ = 0;
  std::int64_t segments_ = 1;
  Count uniform_count_ = 0;
  std::vector<Count> counts_;
  std::vector<Count> prefix_;

  /// Number of known user blocks below one.
  [[nodiscard]] std::size_t known_below(Block user_block) const;
  /// The place of a user block among the known ones. Throws Error(invalid_argument) if it is none of them.
  [[nodiscard]] std::size_t known_index(Block user_block) const;
  std::vector<Block> known_;  ///< of a sparse layout, ascending
};

/// The three memory areas that a plan refers to.
enum class Area : std::uint8_t { send, recv, scratch };

/// Contiguous elements in one area.
struct Piece {
  Count offset_bytes = 0;  ///< from the beginning of the area
  Count elements = 0;      ///< one after another
  Area area = Area::send;  ///< the memory that it lies in
};

/// Elementwise work on contiguous elements: dst = left op right, or dst = left for copies (right is unused).
struct Run {
  Piece dst;    ///< where results go
  Piece left;   ///< the left operand, or what is copied
  Piece right;  ///< the right operand; unused for copies
};

/// A step with its bytes. Messages own `pieces`, local steps own `runs`, and those that combine what arrives both: the
/// pieces are the scratch memory that the message may go through.
struct PlanStep {
  StepKind kind = StepKind::copy;  ///< as Step::kind
  bool arrives_left = false;       ///< of StepKind::recv_reduce
  /// No bytes to move: the step only keeps its place in the order. Never set for messages of a barrier, nor for
  /// the answers of a window.
  bool empty = false;
  std::uint32_t tag = 0;        ///< this message is the tag-th between the two ranks in this direction
  Rank peer = -1;               ///< the rank of the other end of a message; -1 for local steps
  std::uint32_t first = 0;      ///< into Plan::pieces
  std::uint32_t length = 0;     ///< how many there are
  std::uint32_t first_run = 0;  ///< into Plan::runs
  std::uint32_t run_count = 0;  ///< how many there are
  Count elements = 0;           ///< of the whole message
};

/// One rank's bound schedule.
struct Plan {
  std::vector<PlanStep> steps;  ///< as in the schedule, in the same order
  std::vector<Piece> pieces;    ///< of all steps
  std::vector<Run> runs;        ///< of all steps
  Dependencies dependencies;    ///< derived ones and explicit ones
  Count extent_bytes = 1;       ///< bytes from one element to the next
  Count scratch_bytes = 0;      ///< size of the scratch area
  std::uint32_t tags = 0;       ///< number of different tags in use (largest tag + 1)

  [[nodiscard]] std::span<const Piece> pieces_of(const PlanStep& s) const {
    return {pieces.data() + s.first, s.length};
  }
  [[nodiscard]] std::span<const Run> runs_of(const PlanStep& s) const {
    return {runs.data() + s.first_run, s.run_count};
  }
  /// Bytes that the plan itself occupies, for bounded caches.
  [[nodiscard]] std::size_t memory_bytes() const;
};

/// Displacements, in elements, of the user blocks of a caller's buffer, in the order of its slots. If empty, blocks are
/// packed one after another in that order.
struct Displacements {
  std::span<const Count> send{};  ///< of the blocks of the send buffer, in elements
  std::span<const Count> recv{};  ///< of the blocks of the receive buffer, in elements
};

/// Binds a schedule to sizes. `layout` must have the schedule's user blocks and segments. Adjacent pieces are merged.
/// Throws Error(invalid_argument) if the layout does not fit the schedule or the total overflows 64 bits.
[[nodiscard]] Plan bind(const Schedule& schedule, const Layout& layout, Count extent_bytes,
                        const Displacements& displacements = {});

}  // namespace circoll
