// Where a process is, and whether it still is: kernel, namespaces, pid and start time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace circoll::node {

/// A kernel that has been booted, and the namespaces of a process in it. They are inode numbers; 0 is a kind of
/// namespace that the kernel has not got.
struct Place {
  std::uint64_t boot = 0;  ///< a hash of the kernel's boot_id; 0 if /proc does not show it
  std::uint64_t network = 0;
  std::uint64_t pids = 0;
  std::uint64_t time = 0;
  std::uint64_t users = 0;

  /// That of the calling process. It can change, if the process calls unshare or setns.
  [[nodiscard]] static Place here();
};

/// Facts of /proc/PID/stat about a process.
struct ProcessStat {
  pid_t pid = 0;                 ///< as the pid namespace of /proc has it
  std::uint64_t start_time = 0;  ///< clock ticks since the kernel was booted, as the reader's time namespace has them
  bool ended = false;            ///< it waits for its parent to take note of its end
};

/// Nothing if /proc does not show the process. The second form is for the calling process.
[[nodiscard]] std::optional<ProcessStat> stat_of(pid_t pid);
[[nodiscard]] std::optional<ProcessStat> own_stat();

}  // namespace circoll::node
