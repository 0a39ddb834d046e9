// The search for the profile of a machine: which directories, in which order, and why files are not taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "select/profile.hpp"

namespace circoll::select {

/// The value of CIRCOLL_PROFILE.
struct ProfileSetting {
  std::string off{};   ///< why none is to be used; empty: one may
  std::string path{};  ///< a file or a directory; empty: the usual directories
};
/// Reads the environment. Profiles are measured with messages inside the node as they go by themselves, so that none is
/// used if CIRCOLL_NODE or CIRCOLL_NODE_COPY wants another way.
[[nodiscard]] ProfileSetting profile_setting();

/// The user's directory of profiles, $XDG_CONFIG_HOME/circoll/profiles or ~/.config/circoll/profiles. Nothing if there
/// is neither, as in a job without a home.
[[nodiscard]] std::optional<std::string> user_profiles();
/// The directories that are searched, the user's first.
[[nodiscard]] std::vector<std::string> profile_directories();

/// A file that is not used.
struct RefusedProfile {
  std::string file;
  std::string why;       ///< a clause, such as "it is for MPICH 4.0.2"
  bool damaged = false;  ///< it cannot be read, or is no profile
};

struct FoundProfile {
  std::string file{};  ///< empty: there is none
  std::string text{};
  ProfileHead head{};
  std::vector<RefusedProfile> refused{};
  std::string why{};     ///< a sentence about why there is none, without a full stop
  std::string places{};  ///< its end: " in DIRECTORY, DIRECTORY", where it was looked for
  /// If there is none, the name of the same MPI library at another patch level. It has a profile for this processor,
  /// which was refused.
  std::string other_patch{};
};

/// The first profile for `key` that is whole, as the setting says. Options are those of the policy to be made of it.
/// In a directory the file that `circoll tune` would write comes first, and the others by their names. Those behind
/// the one that is taken are looked at only if `all`. Throws nothing but std::bad_alloc.
[[nodiscard]] FoundProfile find_profile(const ProfileKey& key, const ProfileSetting& setting,
                                        const PolicyOptions& options, bool all = false);

/// The keys of all whole profiles that the setting lets be found, each once.
[[nodiscard]] std::vector<ProfileKey> known_keys(const ProfileSetting& setting);

/// The sentences that a user must read. They are about damaged files, and about a path in a variable at which there is
/// no profile. Empty if there are none.
[[nodiscard]] std::string complaint(const FoundProfile& found, const ProfileSetting& setting);

}  // namespace circoll::select
