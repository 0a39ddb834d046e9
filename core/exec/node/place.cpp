#include "exec/node/place.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <string_view>

#include "exec/node/system.hpp"
#include "facts/hash.hpp"

namespace circoll::node {
namespace {

std::uint64_t inode_of(const char* path) {
  struct stat status {};
  return stat(path, &status) == 0 ? status.st_ino : 0;
}

/// A field of /proc/PID/stat, counted as proc(5) does; `fields` begins with the third.
std::optional<std::uint64_t> number_of(std::string_view fields, int wanted) {
  for (int field = 3; field < wanted; ++field) {
    const std::size_t space = fields.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    fields.remove_prefix(space + 1);
  }
  return leading_number(fields);
}

std::optional<ProcessStat> read_stat(const char* path) {
  std::array<char, 2048> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  const auto text = read_file(path, buffer);
  if (!text) return std::nullopt;
  // The second field is a name in parentheses, which may have spaces and parentheses itself. After it comes field 3.
  const std::size_t name_end = text->rfind(')');
  const auto pid = leading_number(*text);
  if (!pid || *pid > static_cast<std::uint64_t>(std::numeric_limits<pid_t>::max()) ||
      name_end == std::string_view::npos || text->size() < name_end + 3) {
    return std::nullopt;
  }
  const std::string_view fields = text->substr(name_end + 2);
  const auto threads = number_of(fields, 20);
  const auto start_time = number_of(fields, 22);
  if (!threads || !start_time) return std::nullopt;
  // A first thread that has ended before the others looks like a process that has ended. The number of threads tells
  // the two apart.
  const char state = fields.front();
  const bool ended = (state == 'Z' || state == 'X') && *threads <= 1;
  return ProcessStat{.pid = static_cast<pid_t>(*pid), .start_time = *start_time, .ended = ended};
}

}  // namespace

KernelPlace KernelPlace::here() {
  std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): read_file fills it
  const auto boot = read_file("/proc/sys/kernel/random/boot_id", buffer);
  return {.boot = boot && !boot->empty() ? Hash().add(*boot).value() : 0,
          .network = inode_of("/proc/self/ns/net"),
          .pids = inode_of("/proc/self/ns/pid"),
          .time = inode_of("/proc/self/ns/time"),
          .users = inode_of("/proc/self/ns/user")};
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  std::array<char, 32> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
  return read_stat(path.data());
}

std::optional<ProcessStat> own_stat() { return read_stat("/proc/self/stat"); }

Reason obstacle_between(const Address& own, const Address& peer) {
  if (own.reason == Reason::foreign_proc) return own.reason;
  if (own.place.boot == 0) return own.reason == Reason::none ? Reason::no_proc : own.reason;
  if (peer.version != layout_version) return Reason::other_version;
  // A peer that cannot tell its place gives a reason. That reason comes before a difference of places.
  if (peer.place.boot == 0) return peer.reason == Reason::none ? Reason::no_proc : peer.reason;
  if (peer.place.boot != own.place.boot) return Reason::other_kernel;
  if (peer.place.network != own.place.network) return Reason::other_network_namespace;
  if (peer.place.pids != own.place.pids) return Reason::other_pid_namespace;
  // Start times are told relative to the reader's time namespace.
  if (peer.place.time != own.place.time) return Reason::other_time_namespace;
  return peer.reason;
}

bool is_alive(const Address& address) {
  if (address.pid <= 0) return false;
  if (const auto stat = stat_of(address.pid)) return stat->start_time == address.start_time && !stat->ended;
  // Where /proc hides processes of others, signal 0 still tells whether there is one. It may be a later one.
  return kill(address.pid, 0) == 0 || errno != ESRCH;
}

}  // namespace circoll::node
