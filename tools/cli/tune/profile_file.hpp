// The file that circoll tune writes: where it is, what was used before it, and how it is used.
#pragma once

#include <string>
#include <vector>

#include "select/profile_search.hpp"

namespace circoll::cli {

/// The user's directory of profiles. Throws std::runtime_error, in a sentence, if there is no home.
[[nodiscard]] std::string directory_of_profiles();
/// The file for a key: `output`, or if that is empty the one in the user's directory. Throws likewise.
[[nodiscard]] std::string profile_file(const std::string& output, const select::ProfileKey& key);
/// Throws Error, in a sentence, if that file could not be written.
void require_profile_file(const std::string& output);

/// The profile that programs use today here, with an MPI library ("Open MPI 4.1.4"). Without a version in the
/// name it is the profile of the only version that has one.
[[nodiscard]] select::FoundProfile profile_of_today(const std::string& library);

/// "Use it by CIRCOLL_PROFILE=FILE ...", or that it is used from now on, for a file that was written.
[[nodiscard]] std::string use_of(const std::string& file);

/// A ratio of the time before over the time now, in words: "18 % slower", "equally fast", "2.3 times as fast".
[[nodiscard]] std::string speed_text(double ratio);

/// "2026-11-28", of today.
[[nodiscard]] std::string today();

}  // namespace circoll::cli
