// The two ends of every message of a collective, and of one whose ranks all do the same.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "circoll/schedule.hpp"
#include "schedule/rotation.hpp"

namespace circoll {

/// A step of a rank.
struct StepOfRank {
  Rank rank = -1;
  StepIndex step = 0;
};

/// A message without a fitting other end. Thrown by Matching.
struct Unmatched {
  Rank rank;
  StepIndex step;
  Block block;  ///< of the message, -1 if it has none
  std::string what;
};

/// The matching of all ranks' messages. The n-th send from a to b meets the n-th receive at b from a. Both have the
/// same round and carry the same blocks in the same order. O(all steps and blocks).
class Matching {
 public:
  /// `ranks` are the schedules of ranks 0 .. p-1, which must outlive it. Throws Unmatched.
  explicit Matching(std::span<const Schedule> ranks);

  /// The other end of a message; rank -1 for a step that is none.
  [[nodiscard]] StepOfRank of(StepOfRank end) const { return partners_[static_cast<std::size_t>(end.rank)][end.step]; }

 private:
  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks_.size()); }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  void pair(Rank from, StepIndex send, Rank to, StepIndex recv);

  std::span<const Schedule> ranks_;
  std::vector<std::vector<StepOfRank>> partners_;  // of every message, by rank and step
};

/// The matching of rank 0's messages, where all other schedules are its rotations. A receive from rank f meets a send
/// of rank f, which is that of a step of rank 0, rotated by f: the n-th one to rank -f for the n-th receive.
class RelativeMatching {
 public:
  /// The schedule is rank 0's. Throws Unmatched if there is a message without other end, or the two ends have not the
  /// same round or blocks. O(steps log steps + runs of blocks).
  RelativeMatching(const Schedule& schedule, Rotation rotation);

  /// The step whose rotations are the other ends of those of a message.
  [[nodiscard]] StepIndex of(StepIndex message) const { return partners_[message]; }

 private:
  std::vector<StepIndex> partners_;
};

}  // namespace circoll
