// Schedules executed in one process while ranks stop, as if they had died, and repaired by the others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "circoll/plan.hpp"
#include "exec/local/job.hpp"
#include "repair/failures.hpp"

namespace circoll::local {

/// The steps that a rank executes before it stops. With each step the set has the steps that it waits for, and earlier
/// messages to and from the same ranks.
using StepSet = std::vector<bool>;

/// The first `steps` steps of a schedule, in an order that its dependencies allow. `seed` chooses the order; 0 is that
/// of the schedule.
[[nodiscard]] StepSet steps_before_stop(const Schedule& schedule, std::size_t steps, std::uint64_t seed);

/// All ranks' schedules with memory and data: sums of 64-bit integers, or blocks of them.
class FaultInjection {
 public:
  /// `count` elements in each user block.
  FaultInjection(std::vector<Schedule> ranks, Count count);
  ~FaultInjection();
  FaultInjection(const FaultInjection&) = delete;
  FaultInjection& operator=(const FaultInjection&) = delete;

  /// Executes until the ranks of `stops` have done their steps, and the others all that they could. Returns the steps
  /// that have ended. In one thread the others go on until all of them wait. In threads they stop once they see that a
  /// rank has.
  [[nodiscard]] Progress run(const std::map<Rank, StepSet>& stops, Mode mode);
  /// Writes random values where these receives write, as if their messages had been interrupted. Called after run().
  void overwrite(const Progress& torn);
  /// Executes a repair by the survivors. Throws Error(transport) if they wait for one another.
  void run(const Repair& repair, Mode mode);

  /// True if a rank's result of a block has exactly these contributions, one bit for each rank.
  [[nodiscard]] bool is_result(Rank rank, Block block, std::uint64_t contributions) const;
  /// True if every send buffer is as it was.
  [[nodiscard]] bool send_buffers_intact() const;

 private:
  class RankMemory;
  Progress execute(Mode mode, std::span<const bool> stopping);

  std::vector<std::unique_ptr<RankMemory>> parts_;
};

}  // namespace circoll::local
