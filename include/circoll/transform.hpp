// Transformations of schedules, written once for all algorithms.
#pragma once

#include "circoll/builder.hpp"

namespace circoll {

/// What a reversed schedule does with a block that comes back along the edge on which it went out.
enum class Reversal : std::uint8_t {
  reduce,  ///< combine it with the own contribution: bcast -> reduce, allgather -> reduce_scatter
  move,    ///< store it: gather -> scatter
};

/// Writes the reversal of `forward` into `builder`: rounds in opposite order, sends and receives exchanged.
/// `forward` must move whole blocks only (sends, receives, and copies from the send buffer), each rank
/// receiving each block at most once. The contribution to block b is the builder's input slot of block b, and
/// the result ends in its output; blocks on the way are accumulated in scratch. `depth` receives may be in
/// flight at once. Cost: the rounds, and the volume, of `forward` with sent and received exchanged.
void append_reversed(Builder& builder, const Schedule& forward, Reversal kind, int depth = 2);

}  // namespace circoll
