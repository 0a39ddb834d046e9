// Where the ranks of a communicator are: in MPI_COMM_WORLD, on which nodes, and whether they may share memory and
// processors.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "exec/node/limits.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

/// A translation of ranks. Regular ones, `first + stride * rank`, take no memory: the world itself, blocks of it, every
/// n-th rank.
class RankMap {
 public:
  /// Each rank is its own.
  RankMap() = default;
  explicit RankMap(std::vector<int> ranks);

  [[nodiscard]] int operator()(Rank rank) const {
    return table_.empty() ? first_ + stride_ * static_cast<int>(rank) : table_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool is_identity() const { return table_.empty() && first_ == 0 && stride_ == 1; }
  [[nodiscard]] std::size_t memory_bytes() const { return table_.capacity() * sizeof(int); }

 private:
  int first_ = 0;
  int stride_ = 1;
  std::vector<int> table_;
};

/// The ranks of a group in MPI_COMM_WORLD. False if some are ranks of another MPI_COMM_WORLD, which all processes find
/// alike. Local; O(p).
[[nodiscard]] bool find_world_ranks(MPI_Group group, std::vector<int>* ranks);
/// Those of an intracommunicator.
[[nodiscard]] bool find_world_ranks(MPI_Comm comm, RankMap* ranks);

/// Where a rank is, by numbers that are equal for ranks in the same place.
struct RankLocation {
  static constexpr std::size_t most_levels = 4;
  /// The key of the process's node, by the name that MPI_Get_processor_name gives. If CIRCOLL_CORES says how many
  /// consecutive ranks a node has, it is the node's number.
  std::uint64_t node = 0;
  /// The key of the processes that may share memory; 0 where that is not known.
  std::uint64_t memory = 0;
  node::OwnProcessors processors{};
  /// Keys of the parts of the machine above the node (CIRCOLL_TOPOLOGY). The coarsest comes first, and 0 stands where
  /// there is none, or none is known.
  std::array<std::uint64_t, most_levels> above{};
};

/// Asks all ranks of an intracommunicator where they are. The same on all ranks, whatever their environments are.
/// Collective: one native allgather of 64 bytes. Returns an MPI error code.
[[nodiscard]] int gather_locations(MPI_Comm comm, int rank, int size, std::vector<RankLocation>* all);

/// Why this rank cannot read CIRCOLL_TOPOLOGY. Empty unless it is the first one that does not know its switches.
[[nodiscard]] std::string topology_complaint(std::span<const RankLocation> all, int rank);
/// The levels above the nodes, or why they are not known, for a report.
[[nodiscard]] std::string topology_text(std::span<const RankLocation> all, const Placement& placement);

/// The node of each rank. Nodes are numbered in the order of their first ranks.
[[nodiscard]] std::vector<Rank> nodes_of(std::span<const RankLocation> all);

/// The first ranks of the nodes, where nodes are numbered in the order of these ranks.
[[nodiscard]] std::vector<int> leaders_of(std::span<const Rank> node_of);

/// The placement of the ranks, the same on all of them.
[[nodiscard]] Placement placement_from(std::span<const RankLocation> all);

/// The placement of a communicator's ranks, where `world` is that of the ranks of MPI_COMM_WORLD. Local.
[[nodiscard]] Placement placement_in_world(const Placement& world, const RankMap& ranks, Rank size);

/// The same placement for all communicators whose ranks lie alike, so that they have the same plans.
[[nodiscard]] Placement shared_placement(Placement placement);

}  // namespace circoll::mpi
