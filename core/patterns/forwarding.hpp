// All-to-all by forwarding: blocks of several places travel together, over a few distances. A place is a rank, or a
// node of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::patterns {

/// A round in which place r sends to r + skip and receives from r - skip. It sends everything that still has to go one
/// of `distances` (>= skip). It gets what still has to go distance - skip then.
struct ForwardingRound {
  Rank skip = 1;
  std::vector<Rank> distances{};
};

/// The rounds in which everything travels the digits of its distance in a base, the lowest digits first.
[[nodiscard]] std::vector<ForwardingRound> rounds_by_digits_of(Rank places, std::int64_t base);

/// The parcels of an all-to-all, one from every place to every other one, as this rank sees them.
struct Parcels {
  Rank places = 1;                         ///< that exchange parcels, numbered 0 .. places - 1
  Rank here = 0;                           ///< this rank's place
  std::function<Rank(Rank)> rank_at{};     ///< the rank that handles the parcels of a place
  std::function<Region(Rank)> outgoing{};  ///< the blocks of the parcel from here to a place, in their order
  std::function<Region(Rank)> incoming{};  ///< the slots for the parcel from a place to here
  /// Appends the blocks of the parcel from one place to another.
  std::function<void(Rank, Rank, std::vector<Block>&)> blocks{};
};

/// Writes these rounds, which must bring every distance 1 .. places - 1 to 0. A parcel that has arrived goes into its
/// slots, others wait in scratch.
void forward(Builder& builder, const std::vector<ForwardingRound>& rounds, const Parcels& parcels);

/// Writes an alltoall by these rounds. Shape: one block from every rank to every rank.
void alltoall_by_forwarding(Builder& builder, const std::vector<ForwardingRound>& rounds);

}  // namespace circoll::patterns
