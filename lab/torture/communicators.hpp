// Communicators of a case.
#pragma once

#include <mpi.h>

#include <memory>

#include "case.hpp"

namespace circoll::torture {

struct Communicator {
  MPI_Comm comm = MPI_COMM_NULL;    ///< null on ranks that are not in it, and once it is freed
  MPI_Comm oracle = MPI_COMM_NULL;  ///< the same ranks, for the native collectives; null if it is bare
  int rank = 0, size = 0;
  std::shared_ptr<const Topology> topology{};  ///< of a grid or graph
  [[nodiscard]] bool member() const { return size > 0; }
};

/// The extents of a grid of at most `size` ranks, and which dimensions are periodic.
struct Grid {
  std::vector<int> dims, periods;
};
[[nodiscard]] Grid grid_of(const CommSpec& spec, int size);
/// The edges of a grid or graph of `size` ranks; nullptr of any other communicator.
[[nodiscard]] std::shared_ptr<const Topology> topology_of(const CommSpec& spec, int size);

/// Collective over the parent. An empty one if this rank is not in the parent.
[[nodiscard]] Communicator make_communicator(const CommSpec& spec, const Communicator& parent);
void free_oracle(Communicator& communicator);

/// Counts the calls of error handlers for errors that belong to no communicator. These go to MPI_COMM_WORLD and
/// MPI_COMM_SELF, where the program calls nothing that fails.
void count_stray_errors();
/// Announces an erroneous call on the communicator: its error handler may be called once.
void expect_error(MPI_Comm comm);
/// The error that the handler was called for since then, in this thread; MPI_SUCCESS if it was not.
[[nodiscard]] int error_heard();
/// The class of an error.
[[nodiscard]] int error_class(int rc);
/// The number of unexpected calls of these handlers.
[[nodiscard]] long stray_errors();

}  // namespace circoll::torture
