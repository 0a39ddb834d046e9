#include "exec/node/limits.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "exec/node/system.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"

namespace circoll::node {
namespace {

/// True if a list such as "cpu,memory" has the name.
bool is_listed(std::string_view list, std::string_view wanted) {
  const std::vector<std::string> names = split_list(list);
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

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

/// Machines of more processors are taken for having as many as this.
constexpr std::size_t most_processors = 8192;

/// The processors' time that a group may take, rounded up; nothing without a limit.
std::optional<std::uint64_t> quota_of(const std::string& group, GroupVersion version) {
  std::optional<std::uint64_t> quota, period;
  if (version == GroupVersion::one) {
    quota = number_in(group + "/cpu.cfs_quota_us");  // "-1" is no number
    period = number_in(group + "/cpu.cfs_period_us");
  } else {
    std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
    const std::string_view text = read_file((group + "/cpu.max").c_str(), buffer).value_or("");
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    quota = leading_number(text);  // "max" is no number
    period = leading_number(text.substr(space + 1));
  }
  if (!quota || !period || *period == 0) return std::nullopt;
  return (*quota + *period - 1) / *period;
}

/// The least quota of the groups of this process.
std::optional<std::uint64_t> least_quota(const ControlGroupFiles& files) {
  std::optional<std::uint64_t> least;
  visit_control_groups("cpu", files, [&](const std::string& group, GroupVersion version) {
    if (const auto quota = quota_of(group, version)) least = std::min(least.value_or(*quota), *quota);
  });
  return least;
}

}  // namespace

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  const auto text = read_file(path.c_str(), buffer);
  return text ? leading_number(*text) : std::nullopt;
}

void visit_control_groups(std::string_view controller, const ControlGroupFiles& files,
                          const std::function<void(const std::string& directory, GroupVersion version)>& visit) {
  std::array<char, 8192> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  auto text = read_file(files.membership.c_str(), buffer).value_or("");
  while (!text.empty()) {
    // hierarchy:controllers:path; version 2 has no controllers there.
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !is_listed(controllers, controller)) continue;
    const GroupVersion version = controllers.empty() ? GroupVersion::two : GroupVersion::one;
    std::string_view path = line.substr(second + 1);
    if (path == "/" || !path.starts_with('/') || path.find("..") != std::string_view::npos) path = {};
    const std::string top = version == GroupVersion::two ? files.mount : files.mount + "/" + std::string(controller);
    for (;; path = path.substr(0, path.rfind('/'))) {
      visit(top + std::string(path), version);
      if (path.empty()) break;
    }
  }
}

std::optional<std::uint64_t> memory_room(const ControlGroupFiles& files) {
  std::optional<std::uint64_t> room;
  visit_control_groups("memory", files, [&](const std::string& group, GroupVersion version) {
    const auto left = room_of(group, version);
    if (left) room = std::min(room.value_or(*left), *left);
  });
  return room;
}

OwnProcessors own_processors(const ControlGroupFiles& files) {
  OwnProcessors own;
  const std::size_t bytes = CPU_ALLOC_SIZE(most_processors);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most_processors),
                                                             [](cpu_set_t* one) { CPU_FREE(one); });
  if (set != nullptr) {
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) CPU_ZERO_S(bytes, set.get());
    own.set = Hash().add(std::string_view(reinterpret_cast<const char*>(set.get()), bytes)).value();
    own.count = static_cast<std::uint32_t>(CPU_COUNT_S(bytes, set.get()));
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (const auto quota = least_quota(files))
    own.quota = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(*quota, 1, most));
  return own;
}

bool is_crowded(std::span<const OwnProcessors> processes) {
  std::map<std::uint64_t, std::uint32_t> sets;
  std::size_t quota = processes.size();
  for (const OwnProcessors& one : processes) {
    if (one.count == 0) return false;
    sets.insert_or_assign(one.set, one.count);
    if (one.quota != 0) quota = std::min<std::size_t>(quota, one.quota);
  }
  std::size_t count = 0;
  for (const auto& [set, processors] : sets) count += processors;
  return std::min(count, quota) < processes.size();
}

}  // namespace circoll::node
