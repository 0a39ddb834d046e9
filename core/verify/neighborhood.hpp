// Proofs of neighbourhood collectives: the schedules of all ranks against the definition for their graph.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "circoll/verify.hpp"
#include "schedule/neighborhood.hpp"

namespace circoll::verify {

/// Names of blocks that all ranks share. A block has its source's rank in an allgather, its edge in an alltoall.
/// Throws Error(invalid_argument) if the ends of the edges do not fit together.
[[nodiscard]] std::vector<NeighborBlocks> shared_blocks(std::span<const Neighborhood> graph, NeighborContract contract);

/// Proves that schedules in the names of shared_blocks() do what MPI defines. They are structurally sound, every send
/// meets its receive, no order of steps deadlocks or races, no send buffer is written, and each receive block has what
/// its edge brings. Returns the first claim that does not hold.
[[nodiscard]] std::optional<Refutation> refute_neighborhood(std::span<const Neighborhood> graph,
                                                            NeighborContract contract,
                                                            std::span<const Schedule> schedules);

}  // namespace circoll::verify
