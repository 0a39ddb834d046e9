#include "select/profile_search.hpp"

#include <algorithm>
#include <filesystem>

#include "circoll/error.hpp"
#include "facts/environment.hpp"
#include "facts/files.hpp"
#include "select/text_file.hpp"

namespace circoll::select {
namespace {

namespace fs = std::filesystem;

/// More files than any machine needs. A directory may hold other files, too.
constexpr std::size_t most_files = 256;

/// The profiles of a directory in the order in which they are tried.
std::vector<std::string> files_in(const std::string& directory, const ProfileKey& key) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(".json") && !name.starts_with('.') && names.size() < most_files)
      names.push_back(std::move(name));
  }
  const std::string own = profile_file_name(key);
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(a != own, a) < std::pair(b != own, b);
  });
  for (std::string& name : names) name.insert(0, directory + "/");
  return names;
}

std::vector<std::string> directories_of(const ProfileSetting& setting) {
  return setting.path.empty() ? profile_directories() : std::vector{setting.path};
}

/// The files that the setting lets be found, in the order in which they are tried.
std::vector<std::string> candidates(const ProfileSetting& setting, const ProfileKey& key) {
  std::error_code error;
  if (!setting.path.empty() && !fs::is_directory(setting.path, error)) return {setting.path};
  std::vector<std::string> all;
  for (const std::string& directory : directories_of(setting)) {
    for (std::string& file : files_in(directory, key)) all.push_back(std::move(file));
  }
  return all;
}

/// Why the profile is of another machine; empty if it is not.
std::string mismatch(const ProfileHead& head, const ProfileKey& key) {
  if (head.key.library != key.library) return "it is for " + head.key.library + ", not " + key.library;
  if (head.key.processor != key.processor) {
    return "it is for the processor '" + head.key.processor + "', not '" + key.processor + "'";
  }
  return "";
}

/// "Open MPI 4.1" of "Open MPI 4.1.4"; empty for a name without a patch level.
std::string_view without_patch(std::string_view library) {
  const auto points = std::count(library.begin(), library.end(), '.');
  return points == 2 ? library.substr(0, library.rfind('.')) : std::string_view();
}

/// True for two patch levels of one library on one processor.
bool differ_by_patch(const ProfileKey& one, const ProfileKey& other) {
  return one.processor == other.processor && one.library != other.library && !without_patch(one.library).empty() &&
         without_patch(one.library) == without_patch(other.library);
}

void consider(const std::string& file, const ProfileKey& key, const PolicyOptions& options, FoundProfile& found) {
  try {
    std::string text = read_text_file(file);
    ProfileHead head = read_profile_head(text, file);
    if (std::string why = mismatch(head, key); !why.empty()) {
      found.refused.push_back({.file = file, .why = std::move(why)});
      if (found.other_patch.empty() && differ_by_patch(head.key, key)) found.other_patch = head.key.library;
      return;
    }
    (void)make_profile_policy(text, file, options);
    if (!found.file.empty()) {
      found.refused.push_back({.file = file, .why = found.file + " comes first"});
      return;
    }
    found.file = file;
    found.text = std::move(text);
    found.head = std::move(head);
  } catch (const Error& error) {
    found.refused.push_back({.file = file, .why = error.what(), .damaged = true});
  }
}

}  // namespace

ProfileSetting profile_setting() {
  const std::string value = environment("CIRCOLL_PROFILE").value_or("auto");
  if (value == "off") return {.off = "CIRCOLL_PROFILE is off"};
  for (const std::string name : {"CIRCOLL_NODE", "CIRCOLL_NODE_COPY"}) {
    const std::string way = environment(name).value_or("auto");
    if (way != "auto") return {.off = std::string(name).append(" is ").append(way)};
  }
  return {.path = value == "auto" ? "" : value};
}

std::optional<std::string> user_profiles() {
  const auto config = user_directory("XDG_CONFIG_HOME", ".config");
  return config ? std::optional(*config + "/circoll/profiles") : std::nullopt;
}

std::vector<std::string> profile_directories() {
  std::vector<std::string> all;
  const auto add = [&](const std::string& directory) {
    if (std::find(all.begin(), all.end(), directory) == all.end()) all.push_back(directory);
  };
  if (const auto user = user_profiles()) add(*user);
  add(CIRCOLL_SYSCONFDIR "/circoll/profiles");
  add("/etc/circoll/profiles");
  return all;
}

std::vector<ProfileKey> known_keys(const ProfileSetting& setting) {
  std::vector<ProfileKey> keys;
  if (!setting.off.empty()) return keys;
  for (const std::string& file : candidates(setting, {})) {
    try {
      ProfileKey key = read_profile_head(read_text_file(file), file).key;
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    } catch (const Error&) {
      continue;  // find_profile() says what is wrong with it
    }
  }
  return keys;
}

FoundProfile find_profile(const ProfileKey& key, const ProfileSetting& setting, const PolicyOptions& options,
                          bool all) {
  FoundProfile found;
  if (!setting.off.empty()) {
    found.why = setting.off;
    return found;
  }
  for (const std::string& file : candidates(setting, key)) {
    if (found.file.empty() || all) consider(file, key, options, found);
  }
  if (!found.file.empty()) {
    found.other_patch.clear();
    return found;
  }
  found.why = "there is none for " + key.library + " on '" + key.processor + "'";
  std::string separator = " in ";
  for (const std::string& directory : directories_of(setting)) {
    found.places += separator + directory;
    separator = ", ";
  }
  return found;
}

std::string complaint(const FoundProfile& found, const ProfileSetting& setting) {
  std::string text;
  std::size_t damaged = 0;
  for (const RefusedProfile& one : found.refused) {
    if (!one.damaged) continue;
    if (++damaged == 1) text = "a profile is damaged and not used: " + one.why;
  }
  if (damaged > 1) text += "; so are " + std::to_string(damaged - 1) + " more";
  if (damaged == 0 && setting.off.empty() && !setting.path.empty() && found.file.empty()) {
    text = "CIRCOLL_PROFILE: ";
    text += found.refused.size() == 1 ? found.refused.front().file + " is not used: " + found.refused.front().why
                                      : found.why + found.places;
  }
  return text;
}

}  // namespace circoll::select
