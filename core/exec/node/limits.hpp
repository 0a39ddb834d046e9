// The memory and the processors that the system lets this process have: affinity, and its control groups.
//
// Memory beyond the limit of a control group is not refused: the kernel ends a process of the group. So the limit is
// read before memory is taken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
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

/// The bytes that the control groups of this process may still take, file caches being given up. Versions 1 and 2 are
/// read, and the smallest number of all levels counts. Nothing if there is no limit, or none can be read. Others take
/// from the same memory, so it is an estimate.
[[nodiscard]] std::optional<std::uint64_t> memory_room(const ControlGroupFiles& files = {});

/// The processors that this process may use, in numbers that others can compare.
struct OwnProcessors {
  std::uint64_t set = 0;    ///< equal for processes that may run on the same ones
  std::uint32_t count = 0;  ///< of the set; 0: not known
  std::uint32_t quota = 0;  ///< the processors' time that the control groups give, rounded up, at least 1; 0: no limit

  bool operator==(const OwnProcessors&) const = default;
};
[[nodiscard]] OwnProcessors own_processors(const ControlGroupFiles& files = {});

/// True if the processes of a node have fewer processors than they are. Sets of which each has its own are taken for
/// disjoint. False if nothing is known of one of them.
[[nodiscard]] bool is_crowded(std::span<const OwnProcessors> processes);

}  // namespace circoll::node
