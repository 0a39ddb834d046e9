// The two ends of every message among ranks that all do the same.
#pragma once

#include <vector>

#include "schedule/matching.hpp"
#include "schedule/rotation.hpp"

namespace circoll {

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
