// Communication of all ranks of MPI_COMM_WORLD that is the drop-in's own: their reports, clocks and environments.
//
// Nothing here uses served collectives.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/mpi/library/base.hpp"

namespace circoll::interpose {

/// A communicator of all ranks for messages of our own, which returns errors. MPI_COMM_NULL if MPI could not make one.
/// Collective.
[[nodiscard]] MPI_Comm collecting_communicator(mpi::UnsetHandlers handlers = mpi::UnsetHandlers::stay);

/// Reduces values in place. Nonblocking collectives have tags of their own. A rank that nobody knows to run without the
/// drop-in takes no message of this one for its first blocking collective.
[[nodiscard]] bool reduce_apart(void* values, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/// Every rank's `produce` writes text into a sink; rank 0 gets it by `consume`, rank after rank, in parts. Messages are
/// of at most 1 MiB, and rank 0 holds one. Collective.
void collect(MPI_Comm comm, const std::function<void(const std::function<void(std::string_view)>& sink)>& produce,
             const std::function<void(int rank, std::string_view part)>& consume);

/// The clock of rank 0, seen from here: its PMPI_Wtime is this rank's plus offset_s.
struct ClockReading {
  double at_s = 0;  ///< when, by this rank's clock
  double offset_s = 0;
  double error_s = 0;  ///< at most: half of the fastest of some round trips
};

/// Compares the clocks of all ranks with that of rank 0, one after the other. Collective.
[[nodiscard]] ClockReading read_clock(MPI_Comm comm);

struct Agreement {
  bool compared = false;  ///< the ranks could be compared; the rest says nothing otherwise
  bool alike = false;
  bool reports_alike = false;  ///< CIRCOLL_REPORT and CIRCOLL_TRACE
  bool taken = false;          ///< this rank has got variables of rank 0, and reads its environment anew
  /// Differences on rank 0, a line for each variable, and how it is handed on.
  std::vector<std::string> lines;
};

/// Compares the environments of all ranks of MPI_COMM_WORLD by native collectives: one small reduction, and more only
/// if they differ. Ranks take those variables of rank 0 that they lack. Some launchers give them to one host only.
/// Collective.
[[nodiscard]] Agreement compare_environments(int world_rank);

}  // namespace circoll::interpose
