// Rounds for steps that have an order, but no rounds.
#pragma once

#include <vector>

#include "circoll/schedule.hpp"

namespace circoll::msccl {

/// Schedules of all ranks without rounds, each in an order that its dependencies allow. The message of step i of rank r
/// has its other end at step other[r][i] of the peer.
struct Unrounded {
  std::vector<Schedule> ranks{};
  std::vector<std::vector<StepIndex>> other{};
};

/// The step with which ranks wait for one another forever, if every send waits until it is received.
struct Stuck {
  Rank rank = 0;
  StepIndex step = 0;
};

/// Gives every message the first possible round, then sorts the steps by rounds. It is later than the rounds of
/// messages that either end waits for, and both ranks are free in it. Returns, for each rank, the step that each one
/// was before. Throws Stuck.
[[nodiscard]] std::vector<std::vector<StepIndex>> assign_rounds(Unrounded& all);

}  // namespace circoll::msccl
