#include "exec/node/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "exec/node/system.hpp"

namespace circoll::node {
namespace {

/// The names of the same things in both versions.
struct Version {
  std::string_view directory;  // below the mount
  std::string_view limit;
  std::string_view usage;
  std::array<std::string_view, 2> caches;  // in memory.stat
};
constexpr Version version_1{
    "/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}};
constexpr Version version_2{"", "/memory.max", "/memory.current", {"inactive_file ", "active_file "}};

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  const auto text = read_file(path.c_str(), buffer);
  return text ? leading_number(*text) : std::nullopt;
}

/// The caches of files, which the kernel drops before it ends a process.
std::uint64_t caches_of(const std::string& group, const Version& version) {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  auto text = read_file((group + "/memory.stat").c_str(), buffer).value_or("");
  std::uint64_t bytes = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const std::string_view name : version.caches) {
      if (line.starts_with(name)) bytes += leading_number(line.substr(name.size())).value_or(0);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return bytes;
}

/// That of a group and of those it is in. In a container the path may be one that only its host sees. Then the group
/// is what is mounted.
std::optional<std::uint64_t> room_of(std::string_view path, const std::string& mount, const Version& version) {
  std::optional<std::uint64_t> room;
  if (path.find("..") != std::string_view::npos) path = {};
  while (true) {
    const std::string group = mount + std::string(version.directory) + std::string(path);
    const auto limit = number_in(group + std::string(version.limit));  // "max" is no number
    const auto usage = number_in(group + std::string(version.usage));
    if (limit && usage) {
      const std::uint64_t used = *usage - std::min(*usage, caches_of(group, version));
      const std::uint64_t left = *limit - std::min(*limit, used);
      room = std::min(room.value_or(left), left);
    }
    if (path.empty()) return room;
    path = path.substr(0, path.rfind('/'));
  }
}

/// True if a list such as "cpu,memory" has the memory.
bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::string_view name = controllers.substr(0, controllers.find(','));
    if (name == "memory") return true;
    controllers.remove_prefix(std::min(controllers.size(), name.size() + 1));
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> memory_room(const std::string& membership, const std::string& mount) {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  auto text = read_file(membership.c_str(), buffer).value_or("");
  std::optional<std::uint64_t> room;
  while (!text.empty()) {
    // hierarchy:controllers:path; version 2 has no controllers there.
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string_view path = line.substr(second + 1);
    if (path == "/" || !path.starts_with('/')) path = {};
    if (!controllers.empty() && !names_memory(controllers)) continue;
    const auto left = room_of(path, mount, controllers.empty() ? version_2 : version_1);
    if (left) room = std::min(room.value_or(*left), *left);
  }
  return room;
}

}  // namespace circoll::node
