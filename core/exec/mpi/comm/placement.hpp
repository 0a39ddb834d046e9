// The placement of a communicator's ranks on nodes.
#pragma once

#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/world_ranks.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// The placement of a communicator's ranks, of which MPI_COMM_WORLD's carrier knows the nodes. Local.
[[nodiscard]] Placement placement_in_world(const Carrier& world, const RankMap& ranks, Rank size);

/// The same placement for all communicators whose ranks lie alike, so that they have the same plans.
[[nodiscard]] Placement shared_placement(Placement placement);

}  // namespace circoll::mpi
