// The placement of a communicator's ranks on nodes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "circoll/relabelling.hpp"
#include "exec/mpi/comm/carrier.hpp"
#include "exec/mpi/comm/world_ranks.hpp"

namespace circoll::mpi {

/// The number of the node that CIRCOLL_CORES puts a rank on, if it is set.
[[nodiscard]] std::optional<std::uint64_t> declared_node(int rank);

/// Asks all ranks of an intracommunicator for the names of their nodes. A name is that of MPI_Get_processor_name, or
/// the number of the node if CIRCOLL_CORES says how many consecutive ranks one has. The same on all ranks, whatever
/// their environments are. Nodes are numbered in the order of their first ranks. Collective: one native allgather of 8
/// bytes. Returns an MPI error code.
[[nodiscard]] int find_nodes(MPI_Comm comm, int rank, int size, std::vector<Rank>* node_of);
/// The placement of a communicator's ranks, of which MPI_COMM_WORLD's carrier knows the nodes. Local.
[[nodiscard]] Placement placement_in_world(const Carrier& world, const RankMap& ranks, Rank size);

/// The same placement for all communicators whose ranks lie alike, so that they have the same plans.
[[nodiscard]] Placement shared_placement(Placement placement);

}  // namespace circoll::mpi
