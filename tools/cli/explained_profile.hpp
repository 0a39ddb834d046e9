// The profile by which "auto" goes on this machine, for commands that run no MPI program.
#pragma once

#include <string>

#include "select/profile_search.hpp"

namespace circoll::cli {

struct ExplainedProfile {
  select::FoundProfile found{};
  std::string library{};  ///< whose profile it is
  std::string note{};     ///< why there is none, or whose there are more; empty: nothing to say
};

/// The profile for this machine's processor and an MPI, "openmpi", "mpich", or "auto" for the first one that there is.
[[nodiscard]] ExplainedProfile profile_of_machine(const std::string& mpi, const PolicyOptions& options);

}  // namespace circoll::cli
