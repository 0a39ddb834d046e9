// Where the ranks of a communicator are: their nodes, and whether they may share memory and processors.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "circoll/types.hpp"
#include "exec/node/processors.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// Where a rank is, by numbers that are equal for ranks in the same place.
struct Whereabouts {
  /// Of its node, by the name that MPI_Get_processor_name gives. It is the node's number if CIRCOLL_CORES says how
  /// many consecutive ranks one has.
  std::uint64_t node = 0;
  /// Of processes that may share memory; 0 where that is not known.
  std::uint64_t memory = 0;
  node::OwnProcessors processors{};
};

/// Asks all ranks of an intracommunicator where they are. The same on all ranks, whatever their environments are.
/// Collective: one native allgather of 32 bytes. Returns an MPI error code.
[[nodiscard]] int gather_whereabouts(MPI_Comm comm, int rank, int size, std::vector<Whereabouts>* all);

/// The node of each rank. Nodes are numbered in the order of their first ranks.
[[nodiscard]] std::vector<Rank> nodes_of(std::span<const Whereabouts> all);

/// The placement of the ranks, the same on all of them.
[[nodiscard]] Placement placement_from(std::span<const Whereabouts> all);

}  // namespace circoll::mpi
