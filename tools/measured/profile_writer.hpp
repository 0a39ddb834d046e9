// Writes profiles (docs/profiles.md): new ones, and into those that are there.
#pragma once

#include <string>

#include "measured/tuning.hpp"
#include "select/profile.hpp"

namespace circoll::measured {

/// One number of ranks of a profile, measured.
struct ProfilePart {
  select::ProfileKey key{};
  select::ProfileRanks ranks{};
  RuleOperator op{};
  std::vector<RuleCell> cells{};  ///< all of ranks.ranks
};

/// The profile `before`, or a new one, with this part instead of what it had for this number of ranks.
/// What is returned has been read back. Throws Error(parse) if `before` is no profile, and Error(invalid_argument) if
/// it has another key.
[[nodiscard]] std::string merged_profile(const std::string& before, const ProfilePart& part);

/// The outcome of writing a profile.
struct StoredProfile {
  std::string file;
  std::string damaged;  ///< what was there before and could not be read is this now; empty: nothing of the kind
};

/// Makes a directory if need be. Throws Error(invalid_argument), in a sentence, unless a profile can be written there.
void require_writable(const std::string& directory);

/// Merges a part into a file. Whoever reads the file sees all of it, before or after; several processes may write at
/// once, one after the other, by a lock file beside it. Throws Error(invalid_argument), in a sentence.
[[nodiscard]] StoredProfile store_profile(const std::string& file, const ProfilePart& part);

}  // namespace circoll::measured
