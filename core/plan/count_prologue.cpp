#include "plan/count_prologue.hpp"

#include <algorithm>
#include <limits>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "plan/addresses.hpp"

namespace circoll {
namespace {

/// The mark of a rank is the sign of all counts that it sends, which nothing else needs.
constexpr Count mark_bit = std::numeric_limits<Count>::min();

/// The schedule with a storage of its own for every scratch buffer. A view can then not overwrite the counts that
/// another view of the same memory has seen.
Schedule without_views(Schedule schedule) {
  for (std::size_t buffer = 0; buffer < schedule.buffers.size(); ++buffer) {
    schedule.buffers[buffer].storage = static_cast<std::int32_t>(buffer);
  }
  return schedule;
}

}  // namespace

CountPrologue::CountPrologue(const Schedule& data) : collective_(data.collective), shape_(data.shape) {
  check(has_unknown_size(collective_), "count prologue: a collective whose counts all ranks know");
  const Schedule schedule = without_views(data);
  // One element per user block; it lies in the first segment of the block, the other segments are empty.
  const Layout layout = Layout::uniform(schedule.user_blocks, schedule.segments, 1);
  plan_ = bind(schedule, layout, sizeof(Count));
  const Addresses addresses(schedule, layout, sizeof(Count));
  send_counts_ = static_cast<std::size_t>(addresses.prefix(send_buffer, schedule.buffers[send_buffer].slots));
  recv_counts_ = static_cast<std::size_t>(addresses.prefix(recv_buffer, schedule.buffers[recv_buffer].slots));
  for (std::int32_t buffer = 0; buffer < static_cast<std::int32_t>(schedule.buffers.size()); ++buffer) {
    for (Slot slot = 0; slot < schedule.buffers[static_cast<std::size_t>(buffer)].slots; ++slot) {
      const Block block = schedule.block_of(buffer, slot);
      addresses.pieces(Range{buffer, slot, 1}, [&](const Piece& piece) {
        if (piece.elements == 0) return;
        places_.push_back(CountSource{piece.area, static_cast<std::size_t>(piece.offset_bytes) / sizeof(Count),
                                      block / schedule.segments});
      });
    }
  }
  if (!is_exchange(collective_)) return;
  for (const CountSource& place : places_) known_.push_back(place.user_block);
  std::sort(known_.begin(), known_.end());
  known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
}

void CountPrologue::fill(Count own_count, std::span<const Count> counts, std::span<Count> send, std::span<Count> recv,
                         std::span<Count> scratch, bool mark) const {
  check(send.size() >= send_counts_ && recv.size() >= recv_counts_ && scratch.size() >= scratch_counts(),
        "count prologue: arrays too small");
  std::fill(send.begin(), send.end(), 0);
  std::fill(recv.begin(), recv.end(), 0);
  std::fill(scratch.begin(), scratch.end(), 0);
  if (is_exchange(collective_)) {
    std::copy_n(counts.begin(), std::min(counts.size(), send_counts_), send.begin());
    if (mark) {
      for (Count& count : send.first(send_counts_)) count |= mark_bit;
    }
    return;
  }
  const bool is_root = shape_.rank == shape_.root;
  if (has_sendcounts(collective_)) {
    if (is_root) std::copy_n(counts.begin(), std::min(counts.size(), send_counts_), send.begin());
    return;
  }
  const Count own = is_root ? counts[static_cast<std::size_t>(shape_.root)] : own_count;
  if (send_counts_ > 0) {
    send[0] = own;
  } else if (is_root && recv_counts_ > static_cast<std::size_t>(shape_.root)) {
    recv[static_cast<std::size_t>(shape_.root)] = own;  // in place
  }
}

bool CountPrologue::collect(std::span<const Count> send, std::span<const Count> recv, std::span<const Count> scratch,
                            std::span<Count> counts) const {
  check(known_.empty() || counts.size() == known_.size(), "count prologue: one count per known block");
  std::fill(counts.begin(), counts.end(), 0);
  bool marked = false;
  // Some slots of a block may never have been written (they still hold 0); all others agree.
  for (const CountSource& place : places_) {
    const std::span<const Count> area = place.area == Area::send ? send : place.area == Area::recv ? recv : scratch;
    const auto at = known_.empty() ? place.user_block
                                   : std::lower_bound(known_.begin(), known_.end(), place.user_block) - known_.begin();
    Count& count = counts[static_cast<std::size_t>(at)];
    const Count told = area[place.index];
    marked = marked || told < 0;
    count = std::max(count, told & ~mark_bit);
  }
  return marked;
}

}  // namespace circoll
