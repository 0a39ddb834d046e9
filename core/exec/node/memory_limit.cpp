#include "exec/node/memory_limit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "exec/node/system.hpp"

namespace circoll::node {
namespace {

/// The caches of files, which the kernel drops before it ends a process.
std::uint64_t caches_of(const std::string& group, const std::array<std::string_view, 2>& names) {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  auto text = read_file((group + "/memory.stat").c_str(), buffer).value_or("");
  std::uint64_t bytes = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    for (const std::string_view name : names) {
      if (line.starts_with(name)) bytes += leading_number(line.substr(name.size())).value_or(0);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return bytes;
}

std::optional<std::uint64_t> room_of(const std::string& group, GroupVersion version) {
  const bool second = version == GroupVersion::two;
  const auto limit = number_in(group + (second ? "/memory.max" : "/memory.limit_in_bytes"));  // "max" is no number
  const auto usage = number_in(group + (second ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!limit || !usage) return std::nullopt;
  constexpr std::array<std::string_view, 2> caches_1{"total_inactive_file ", "total_active_file "};
  constexpr std::array<std::string_view, 2> caches_2{"inactive_file ", "active_file "};
  const std::uint64_t used = *usage - std::min(*usage, caches_of(group, second ? caches_2 : caches_1));
  return *limit - std::min(*limit, used);
}

}  // namespace

std::optional<std::uint64_t> memory_room(const ControlGroupFiles& files) {
  std::optional<std::uint64_t> room;
  visit_control_groups("memory", files, [&](const std::string& group, GroupVersion version) {
    const auto left = room_of(group, version);
    if (left) room = std::min(room.value_or(*left), *left);
  });
  return room;
}

}  // namespace circoll::node
