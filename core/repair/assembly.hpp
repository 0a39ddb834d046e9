// Results that are put together from pieces, and the schedules that do it.
#pragma once

#include <cstdint>
#include <vector>

#include "repair/stage.hpp"

namespace circoll::repair {

/// A result that survivors need, with the pieces that it is put together from.
struct Assembly {
  Block block = 0;
  Set target = 0;           ///< its contributions
  std::uint64_t users = 0;  ///< the survivors that need it, at least one
  /// All places of each piece, in the order of the pieces' least contributions.
  std::vector<std::vector<Place>> pieces{};
};

/// Writes the schedules of all ranks; those without pieces and needs are empty.
///
/// In a round every rank sends and receives one message at most.
/// Pieces are combined in pairs, neighbours first, towards the rank that has most of them. Results spread by doubling:
/// in turn t a rank gets what the one 2^t survivors before it has. The schedules work in the memory that the program's
/// left. They never write the caller's send buffer, and of scratch memory only their own.
[[nodiscard]] std::vector<Schedule> write_assemblies(const Program& program, std::vector<Assembly> assemblies);

}  // namespace circoll::repair
