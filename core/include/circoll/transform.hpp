// Transformations of schedules, written once for all algorithms.
#pragma once

#include <functional>

#include "circoll/builder.hpp"

namespace circoll {

/// The treatment of a block that comes back along the edge on which it went out, in a reversed schedule.
enum class Reversal : std::uint8_t {
  reduce,  ///< combine it with the own contribution: bcast -> reduce, allgather -> reduce_scatter
  move,    ///< store it: gather -> scatter
};

struct ReversalOptions {
  int depth = 2;  ///< receives that may be in flight at once
  /// Gathers the minority of a contiguous message that was never combined here. It is copied to the others first,
  /// so that the message is one piece. Sensible where blocks travel in ranges, not where they travel in lists.
  bool gather_strays = true;
};

/// Writes the reversal of `forward` into `builder`: rounds in opposite order, sends and receives exchanged. `forward`
/// must move whole blocks only (sends, receives, and copies from the send buffer), each rank receiving each block at
/// most once. The contribution to block b is the builder's input slot of block b, and the result ends in its output.
/// Blocks on the way are accumulated in scratch. Cost: the rounds, and the volume, of `forward` with sent and received
/// exchanged.
void append_reversed(Builder& builder, const Schedule& forward, Reversal kind, const ReversalOptions& options = {});

/// Makes one step (StepKind::recv_reduce) of a receive and the only reduction that reads what it brings. That is done
/// to messages of ranks that `from` names, wherever it can cause no deadlock: the reduction must not wait for another
/// message of the same round. Each result is combined by the same expression, and rounds and volumes stay. A rank may
/// do so whatever the others do. O(steps + accesses), but for scratch that is used very often.
[[nodiscard]] Schedule combined_on_arrival(const Schedule& schedule, const std::function<bool(Rank)>& from);

/// The same steps with at most `window` sends and receives of a rank under way at a time. They begin in program
/// order. A message is under way until its receiver has acknowledged it by an empty message, because MPI ends a send
/// when the bytes are in a buffer of the system. The network then carries long messages one after the other, instead of
/// sharing itself among them, and the first one arrives first. A step waits for messages of earlier rounds only, so no
/// deadlock can arise. There are twice as many rounds; blocks and volumes stay. Precondition: window >= 1.
[[nodiscard]] Schedule with_window(const Schedule& schedule, std::int64_t window);

}  // namespace circoll
