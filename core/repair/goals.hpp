// The results that survivors need, as sets of contributions.
#pragma once

#include <cstdint>
#include <vector>

#include "repair/cover.hpp"
#include "repair/stage.hpp"

namespace circoll::repair {

[[nodiscard]] inline Set bit(Rank rank) { return Set{1} << static_cast<unsigned>(rank); }
/// The ranks below one.
[[nodiscard]] inline Set below(Rank rank) { return rank >= 64 ? ~Set{0} : bit(rank) - 1; }

/// Contributions that belong together in a block, and the ranks that need them.
struct Goal {
  Block block = 0;
  Set all = 0;
  std::uint64_t users = 0;
};

/// The goals of a collective without failures.
///
/// If a root alone gets the result, every rank counts as a user: it may go to another rank if the root fails.
[[nodiscard]] std::vector<Goal> goals_of(const Program& program);

/// The slot of a rank's result of a block; buffer -1 if it gets none.
[[nodiscard]] Place output_of(const Schedule& schedule, Block block);

/// True if a root alone gets the result.
[[nodiscard]] bool is_movable(Collective collective);

}  // namespace circoll::repair
