// The profile of the machine, which one rank reads and hands to the others.
#pragma once

#include <mpi.h>

#include <string>

#include "select/profile_search.hpp"

namespace circoll::mpi {

/// The key of profiles for this process: the MPI library that it runs with, and its processor.
[[nodiscard]] select::ProfileKey own_profile_key();

struct SharedProfile {
  std::string file{};  ///< as rank 0 names it; empty: there is none
  std::string text{};
  std::string program{};      ///< the name of rank 0's program, whose rules all ranks have
  std::string why{};          ///< at rank 0: a sentence about why there is none
  std::string other_patch{};  ///< at rank 0: as FoundProfile::other_patch
  std::string complaint{};    ///< at rank 0: what a user must know; empty: nothing
};

/// Finds a profile at rank 0 and hands it to all. No other rank opens one, so that files that differ among nodes do no
/// harm. Collective: a broadcast of some bytes, and one of the text if there is a profile. Text and program make a
/// policy with these options, which are the same at all ranks.
[[nodiscard]] SharedProfile share_profile(MPI_Comm comm, const PolicyOptions& options);

}  // namespace circoll::mpi
