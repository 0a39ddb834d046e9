// The census says which ranks of this node run with the drop-in. Each leaves a mark on the node before MPI_Init, so
// that a rank without the drop-in is found without a message to it (docs/adr/0023).
#pragma once

#include <string>
#include <vector>

namespace circoll::interpose {

enum class Attendance {
  unknown,  ///< the launcher does not say how many ranks the node has
  all,      ///< all ranks of this node run with the drop-in
  some,     ///< some do not; equally known on all ranks of this node that do
};

struct Census {
  Attendance attendance = Attendance::unknown;
  /// The ranks without the drop-in, on the lowest rank of the node that has it and speaks. It is empty on all others.
  /// Ranks are counted on this node. They are those of MPI_COMM_WORLD if `is_world`.
  std::vector<int> absent{};
  bool is_world = true;  ///< all ranks of MPI_COMM_WORLD are on this node
};

/// Leaves this rank's mark. Before MPI_Init, which it never makes fail.
void announce() noexcept;
/// Leaves it again if it was taken away: a session begins.
void announce_again() noexcept;
/// True if announce() was called: MPI_Init was not called past the drop-in.
[[nodiscard]] bool announced();
/// The count, after MPI_Init and once, on all ranks that have called announce(). It sends nothing. If a mark is missing
/// it waits for a second, as MPI_Init need not have waited for all ranks. A rank that has not called announce()
/// sees only whether others have.
[[nodiscard]] Census take_census(int world_size);
/// Takes this rank's mark away, when all ranks have been counted.
void forget_mark() noexcept;

/// "rank 2", "ranks 2, 5-7"
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks);

/// True if this process is the first on its node to ask with this name. The others get false while it lives.
[[nodiscard]] bool first_on_node(const std::string& name);

}  // namespace circoll::interpose
