// Facts about this process from its launcher's variables, which are not Circoll's. The user hands variables on by the
// launcher, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace circoll::interpose {

/// The value of a launcher's variable; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> launch_text(const char* name);
/// Likewise as a number that is not negative.
[[nodiscard]] std::optional<int> launch_number(const char* name);

/// A launcher's word that it has started several processes.
struct Launch {
  std::string variable;  ///< that says so
  int ranks = 1;
  int rank = 0;  ///< of this process among them
};
/// Nothing if no launcher says that there are several.
[[nodiscard]] std::optional<Launch> launched_several();
/// The rank that a launcher has given this process; 0 without a launcher.
[[nodiscard]] int launch_rank();
/// Names the job on this node, alike in all of its processes. The name is that of the launcher's process that has
/// started them, and the launcher's own for the job.
[[nodiscard]] std::string launch_name();

/// A process among those of its job on this node, as the launcher counts them.
struct LocalRank {
  int rank = 0;
  int size = 1;
};
/// Nothing if no launcher says it.
[[nodiscard]] std::optional<LocalRank> launch_local_rank();

/// "mpirun -x A -x B, srun --export=ALL": how all ranks get these variables.
[[nodiscard]] std::string how_to_hand_on(const std::vector<std::string>& names);
/// Likewise for LD_PRELOAD.
[[nodiscard]] std::string how_to_preload();

}  // namespace circoll::interpose
