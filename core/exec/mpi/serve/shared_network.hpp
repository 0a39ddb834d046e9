// The numbers of the network between hosts. They are kept or measured, and the same on all ranks.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "model/fit.hpp"
#include "schedule/relabelling.hpp"

namespace circoll::mpi {

struct SharedNetwork {
  std::optional<NetworkNumbers> numbers{};  ///< nothing: the model keeps its default machine
  /// At rank 0, of several nodes: the numbers and where they come from, or why there are none.
  std::string origin{};
  std::string complaint{};  ///< at rank 0: what a user must know; empty: nothing
  Count part_bytes = 0;     ///< as Globals::part_bytes

  /// At rank 0: what keep() writes.
  struct Unkept {
    std::string file{}, key{}, how{};
  };
  std::optional<Unkept> unkept{};
};

/// Rank 0 takes the numbers from the file that an earlier job has kept. If there is none, one rank of each host times
/// messages (model/probe.hpp) while the others wait, and rank 0 takes the medians of all pairs. No other rank opens a
/// file. Collective over `comm`, on which no messages are under way: one broadcast, and another one of what was
/// measured. `placement` is that of its ranks, the same on all. On one node nothing is done. Where ranks take turns on
/// too few processors, what is measured holds for this job only. `machine` is the one that CIRCOLL_MACHINE names. By
/// these numbers, or CIRCOLL_PARTS, rank 0 says whether long messages go in parts.
[[nodiscard]] SharedNetwork share_network(MPI_Comm comm, const Placement& placement, const Machine& machine);

/// Writes the file of a measured network, at rank 0, and says so in `origin`. To be called when no other rank waits for
/// this one in MPI_Init any more: a home may be slow.
void keep(SharedNetwork& network);

}  // namespace circoll::mpi
