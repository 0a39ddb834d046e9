// The programs of all ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "circoll/algorithm.hpp"
#include "sim/program.hpp"

namespace circoll::sim {

struct Programs {
  std::vector<RankProgram> ranks;
  std::deque<Program> distinct;
  std::vector<std::vector<std::uint32_t>> peers;  ///< of the ranks, in lots that never move
  double vector_blocks = 1;                       ///< blocks in the vector of a rank
  bool moves_data = true;                         ///< false: messages have no bytes (a barrier)
  std::int64_t steps = 0;
  std::int64_t messages = 0;
  std::uint32_t most_waits = 0;  ///< of any step
};

/// The programs of p ranks, whose schedules `schedule_of` makes, from several threads at the same time. `go_on`, which
/// may be empty, is asked as by Ranks.
[[nodiscard]] Programs programs_of(Rank p, int threads, const std::function<Schedule(Rank)>& schedule_of,
                                   const std::function<bool(Rank)>& go_on);
/// The programs of all ranks whose schedules are rotations of rank 0's. O(messages of all ranks).
[[nodiscard]] Programs programs_of_rotations(const Schedule& first);

}  // namespace circoll::sim
