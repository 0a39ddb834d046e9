// The control groups of this process, as the system's files describe them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace circoll::node {

/// The version of a hierarchy of control groups; names of files differ.
enum class GroupVersion : std::uint8_t { one, two };

/// Where the system describes them. Tests have their own.
struct ControlGroupFiles {
  std::string membership = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

/// Calls visit(directory, version) for the groups of this process that have a controller, such as "memory". Those that
/// they are in follow. In a container the path may be one that only its host sees. Then the group is what is mounted.
void visit_control_groups(std::string_view controller, const ControlGroupFiles& files,
                          const std::function<void(const std::string& directory, GroupVersion version)>& visit);

/// The number that a file begins with; nothing if there is no file or no number.
[[nodiscard]] std::optional<std::uint64_t> number_in(const std::string& path);

}  // namespace circoll::node
