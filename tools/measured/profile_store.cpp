// The file of a profile: written as a whole, by one process at a time.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "circoll/error.hpp"
#include "facts/files.hpp"
#include "measured/profile_writer.hpp"
#include "select/text_file.hpp"

namespace circoll::measured {
namespace {

namespace fs = std::filesystem;

/// The text of the file, if it is a profile. What is there and is none is moved away.
std::string text_before(const std::string& file, StoredProfile& stored) {
  std::error_code error;
  if (!fs::exists(file, error)) return "";
  try {
    std::string text = select::read_text_file(file);
    (void)select::make_profile_policy(text, file, {});
    return text;
  } catch (const Error&) {
    stored.damaged = file + ".damaged";
    fs::rename(file, stored.damaged, error);
    if (error) {
      throw Error(ErrorCode::invalid_argument, "the file '" + file + "' cannot be moved away: " + error.message());
    }
  }
  return "";
}

}  // namespace

void require_writable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw Error(ErrorCode::invalid_argument, "the directory '" + directory + "' cannot be made: " + error.message());
  }
  const std::string probe = directory + "/." + std::to_string(getpid()) + ".probe";
  std::FILE* const file = std::fopen(probe.c_str(), "w");
  if (file == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the directory '" + directory + "' cannot be written: " + std::strerror(errno));
  }
  (void)std::fclose(file);
  fs::remove(probe, error);
}

StoredProfile store_profile(const std::string& file, const ProfilePart& part) {
  StoredProfile stored{.file = file, .damaged = {}};
  require_writable(directory_of(file));
  const FileLock lock(directory_of(file) + "/.lock");
  replace_file(file, merged_profile(text_before(file, stored), part));
  return stored;
}

}  // namespace circoll::measured
