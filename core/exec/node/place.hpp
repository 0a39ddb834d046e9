// Where a process is, and whether it still is; and the address by which its peers find its segment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <type_traits>

#include "exec/node/reason.hpp"

namespace circoll::node {

/// A kernel that has been booted, and the namespaces of a process in it. They are inode numbers; 0 is a kind of
/// namespace that the kernel has not got.
struct KernelPlace {
  std::uint64_t boot = 0;  ///< a hash of the kernel's boot_id; 0 if /proc does not show it
  std::uint64_t network = 0;
  std::uint64_t pids = 0;
  std::uint64_t time = 0;
  std::uint64_t users = 0;

  /// That of the calling process. It can change, if the process calls unshare or setns.
  [[nodiscard]] static KernelPlace here();
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

/// The layout of segments and addresses. Processes of different versions do not share memory.
inline constexpr std::uint32_t layout_version = 2;

/// The address of the segment of a process, or the reason why there is none. Plain data, to be exchanged, as by
/// MPI_Allgather. It may come from anywhere, so that users believe only what they have checked.
struct Address {
  std::uint32_t version = layout_version;
  Reason reason = Reason::no_segment;  ///< why there is no segment; `none` if there is
  std::int32_t pid = 0;
  std::int32_t file = -1;        ///< the descriptor of the segment's file in its process
  std::uint64_t start_time = 0;  ///< of the process, which tells it from a later one with the same pid
  KernelPlace place{};
  std::uint64_t device = 0;  ///< of the file, as fstat has it
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;   ///< of the whole file
  std::uint64_t nonce = 0;   ///< a random number, in the segment's header, too
  std::uint64_t header = 0;  ///< where the process itself sees the header, for direct reading
};
static_assert(std::is_trivially_copyable_v<Address> && std::has_unique_object_representations_v<Address>,
              "addresses are sent as bytes");

/// Why `peer` cannot be reached from `own`, as far as the addresses tell. Makes no system call. Network namespaces must
/// be the same, though memory does not need it: hosts that are emulated on one machine, each with a network namespace,
/// are different nodes. This errs on the safe side, because containers of a node with networks of their own send
/// messages.
[[nodiscard]] Reason obstacle_between(const Address& own, const Address& peer);

/// True if the process of an address still exists, by pid and start time, or if this process cannot tell. It is for
/// peers without obstacle_between(). Costs some microseconds. A process that has called exec is the same one.
[[nodiscard]] bool is_alive(const Address& address);

}  // namespace circoll::node
