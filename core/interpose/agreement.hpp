// The agreement of ranks: whether the variables of Circoll, and the files that they name, are alike everywhere.
#pragma once

#include <string>
#include <vector>

namespace circoll::interpose {

struct Agreement {
  bool compared = false;  ///< the ranks could be compared; the rest says nothing otherwise
  bool alike = false;
  bool reports_alike = false;  ///< CIRCOLL_REPORT and CIRCOLL_TRACE
  /// Differences on rank 0, a line for each variable, and how it is handed on.
  std::vector<std::string> lines;
};

/// Compares the environments of all ranks of MPI_COMM_WORLD by native collectives: one small reduction, and more only
/// if they differ. Collective.
[[nodiscard]] Agreement compare_environments(int world_rank);

}  // namespace circoll::interpose
