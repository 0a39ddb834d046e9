// Reversal of schedules: received blocks go out, and sent blocks come back combined.
#include <algorithm>

#include "circoll/error.hpp"
#include "circoll/transform.hpp"
#include "schedule/block_set.hpp"

namespace circoll {
namespace {

/// A run of consecutive blocks, not cyclic.
struct BlockRun {
  Block first;
  Block end;
};
using BlockRuns = std::vector<BlockRun>;

/// A message of the forward schedule, seen from the reversal.
struct Event {
  bool sends;  // in the reversal
  std::uint32_t round;
  Rank peer;
  BlockRuns blocks;
  bool gathers = false;  // own contributions join the accumulated blocks first, so that the message is contiguous
};

Block length(const BlockRuns& blocks) {
  Block sum = 0;
  for (const BlockRun& i : blocks) sum += i.end - i.first;
  return sum;
}

/// Writes the reversal. Every block has a state: untouched (its value here is the rank's own contribution, in
/// the input) or accumulated (in the result for blocks of the result, else in scratch).
class Reverser {
 public:
  Reverser(Builder& builder, const Schedule& forward, Reversal kind, const ReversalOptions& options)
      : b_(builder),
        forward_(forward),
        kind_(kind),
        depth_(static_cast<std::size_t>(std::max(options.depth, 1))),
        gather_strays_(options.gather_strays),
        dense_(forward.ranges.size() * 16 >= static_cast<std::size_t>(forward.blocks())),
        accumulated_(forward.blocks(), dense_),
        output_(forward.blocks(), false) {
    require(forward.blocks() == builder.blocks(), "a schedule and its reversal have the same blocks");
    const CollectiveContract& contract = builder.contract();
    if (contract.output_count > 0) {
      // Results are whole user blocks in order, so they are one run of blocks.
      output_first_ = contract_block(contract.output_buffer, contract.output_first);
      output_.insert(output_first_, output_first_ + contract.output_count);
    }
  }

  void run() {
    read_events();
    place_scratch();
    std::uint32_t round = 0;
    for (Event& event : events_) {
      b_.next_round(event.round - round);
      round = event.round;
      event.sends ? send(event) : receive(event);
    }
    b_.next_round(forward_.rounds - round);
    finish();
  }

 private:
  [[nodiscard]] Block contract_block(std::int32_t buffer, Slot slot) const {
    const Buffer& row = buffer == send_buffer ? b_.contract().send : b_.contract().recv;
    return (row.first_block + slot * row.stride) % forward_.blocks();
  }

  [[nodiscard]] BlockRuns blocks_of(Operand o) const {
    const Block blocks = forward_.blocks();
    BlockRuns result;
    const auto add = [&](Block first, Block end) {
      if (!result.empty() && result.back().end == first) {
        result.back().end = end;
      } else if (first < end) {
        result.push_back({first, end});
      }
    };
    for (const Range& range : forward_.operand(o)) {
      const Buffer& row = forward_.buffers[static_cast<std::size_t>(range.buffer)];
      if (row.list.empty() && row.stride == 1 && (range.first + range.count <= row.slots || row.slots == blocks)) {
        const Block first = forward_.block_of(range.buffer, range.first);
        add(first, std::min(first + range.count, blocks));
        if (first + range.count > blocks) add(0, first + range.count - blocks);
        continue;
      }
      for (Slot i = 0; i < range.count; ++i) {
        const Block block = forward_.block_of(range.buffer, (range.first + i) % row.slots);
        add(block, block + 1);
      }
    }
    return result;
  }

  void read_events() {
    // Not std::views::reverse: clang 14 cannot compile the views of libstdc++ 12.
    for (auto at = forward_.steps.rbegin(); at != forward_.steps.rend(); ++at) {
      const Step& step = *at;
      check(!is_reduction(step.kind), "only schedules that move blocks can be reversed");
      if (step.kind == StepKind::copy) continue;
      const bool was_received = step.kind == StepKind::recv;
      events_.push_back(
          {was_received, forward_.rounds - 1 - step.round, step.peer, blocks_of(was_received ? step.dst : step.left)});
    }
    // Within a round nothing that arrives can leave: sends first, so that they wait for nothing of their round.
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return a.round != b.round ? a.round < b.round : a.sends && !b.sends;
    });
  }

  /// Calls f(first, end, is_output, is_accumulated) for maximal runs of equal state.
  template <typename F>
  void each_run(const BlockRuns& blocks, const BlockSet& accumulated, F&& f) const {
    for (const BlockRun& i : blocks) {
      for (Block first = i.first; first < i.end;) {
        Block until = i.end;
        const bool out = output_.contains(first, until, until);
        const bool done = accumulated.contains(first, until, until);
        f(first, until, out, done);
        first = until;
      }
    }
  }

  /// Finds the blocks that need scratch, by a rehearsal of the states, and gives them one buffer.
  void place_scratch() {
    const Block blocks = forward_.blocks();
    BlockSet rehearsed(blocks, dense_);
    BlockSet stored(blocks, dense_);
    const auto keep = [&](Block first, Block end, bool out) {
      if (!out) stored.insert(first, end);
      rehearsed.insert(first, end);
    };
    for (Event& event : events_) {
      if (event.sends && kind_ == Reversal::reduce) {
        Block own = 0;
        each_run(event.blocks, rehearsed,
                 [&](Block first, Block end, bool, bool done) { own += done ? 0 : end - first; });
        // A contiguous message with a few untouched blocks among accumulated ones: copying these few beats
        // packing all.
        event.gathers = gather_strays_ && own > 0 && 2 * own <= length(event.blocks) && cyclic_run(event.blocks);
        if (!event.gathers) continue;
      } else if (event.sends) {
        continue;
      }
      const bool apart = splits(event.blocks);
      each_run(event.blocks, rehearsed,
               [&](Block first, Block end, bool out, bool) { keep(first, end, out && !apart); });
    }
    const auto runs = stored.intervals();
    if (runs.empty()) return;
    // The smallest cyclic interval that covers all: it begins after the longest gap.
    Block longest = runs.front().first + blocks - runs.back().second;
    Block begin = runs.front().first;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const Block gap = runs[i].first - runs[i - 1].second;
      if (gap > longest) {
        longest = gap;
        begin = runs[i].first;
      }
    }
    scratch_first_ = begin;
    scratch_ = b_.scratch(blocks - longest, begin);
  }

  /// A message that is moved, of which only a part is the result: it goes to scratch in one piece.
  [[nodiscard]] bool splits(const BlockRuns& blocks) const {
    if (kind_ != Reversal::move) return false;
    bool result = false;
    bool other = false;
    each_run(blocks, accumulated_, [&](Block, Block, bool out, bool) { (out ? result : other) = true; });
    return result && other;
  }

  [[nodiscard]] bool cyclic_run(const BlockRuns& blocks) const {
    return blocks.size() == 1 || (blocks.size() == 2 && blocks[0].end == forward_.blocks() && blocks[1].first == 0);
  }

  [[nodiscard]] Region home(Block first, Block end, bool out) const {
    if (out) return b_.output(first - output_first_, end - first);
    return b_.region(scratch_, (first - scratch_first_ + forward_.blocks()) % forward_.blocks(), end - first);
  }
  [[nodiscard]] Region own(Block first, Block end) const { return b_.input(first, end - first); }

  void send(const Event& event) {
    Region message;
    if (event.gathers) {
      each_run(event.blocks, accumulated_, [&](Block first, Block end, bool out, bool done) {
        if (!done) b_.copy(home(first, end, out), own(first, end));
      });
      for (const BlockRun& i : event.blocks) accumulated_.insert(i.first, i.end);
    }
    each_run(event.blocks, accumulated_, [&](Block first, Block end, bool out, bool done) {
      message.append(done ? home(first, end, out) : own(first, end));
    });
    b_.send(event.peer, message);
  }

  void receive(const Event& event) {
    kind_ == Reversal::move ? receive_moved(event) : receive_combined(event);
    for (const BlockRun& i : event.blocks) accumulated_.insert(i.first, i.end);
  }

  void receive_moved(const Event& event) {
    const bool apart = splits(event.blocks);
    Region message;
    each_run(event.blocks, accumulated_,
             [&](Block first, Block end, bool out, bool) { message.append(home(first, end, out && !apart)); });
    b_.recv(event.peer, message);
    if (!apart) return;
    each_run(event.blocks, accumulated_, [&](Block first, Block end, bool out, bool) {
      if (out) b_.copy(home(first, end, true), home(first, end, false));
    });
  }

  void receive_combined(const Event& event) {
    Region dst;
    Region before;
    each_run(event.blocks, accumulated_, [&](Block first, Block end, bool out, bool done) {
      dst.append(home(first, end, out));
      before.append(done ? home(first, end, out) : own(first, end));
    });
    // A few arrival buffers in turn: the next message can arrive while this one is combined.
    std::int32_t& first_view = arrival_[arrivals_ % depth_];
    std::int32_t buffer = 0;
    if (arrivals_ < depth_) {
      buffer = first_view = b_.scratch_like(dst);
    } else {
      buffer = b_.view_like(first_view, dst);
    }
    ++arrivals_;
    const Region arrived = b_.region(buffer);
    b_.recv(event.peer, arrived);
    b_.reduce(dst, before, arrived);
  }

  /// Results that nothing was combined with: the own contribution is the result.
  void finish() {
    if (b_.contract().output_count == 0 || b_.contract().input_count == 0) return;
    const BlockRuns result{{output_first_, output_first_ + b_.contract().output_count}};
    each_run(result, accumulated_, [&](Block first, Block end, bool, bool done) {
      if (!done) b_.copy(home(first, end, true), own(first, end));
    });
  }

  Builder& b_;
  const Schedule& forward_;
  Reversal kind_;
  std::size_t depth_;
  bool gather_strays_;
  bool dense_;
  BlockSet accumulated_;
  BlockSet output_;
  Block output_first_ = 0;
  std::vector<Event> events_;
  std::int32_t scratch_ = 0;
  Block scratch_first_ = 0;
  std::vector<std::int32_t> arrival_ = std::vector<std::int32_t>(depth_);
  std::size_t arrivals_ = 0;
};

}  // namespace

void append_reversed(Builder& builder, const Schedule& forward, Reversal kind, const ReversalOptions& options) {
  Reverser(builder, forward, kind, options).run();
}

}  // namespace circoll
