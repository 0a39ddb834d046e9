#include "exec/node/address.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's

#include <cerrno>

namespace circoll::node {

Reason obstacle_between(const Address& own, const Address& peer) {
  if (own.reason == Reason::foreign_proc) return own.reason;
  if (own.place.boot == 0) return own.reason == Reason::none ? Reason::no_proc : own.reason;
  if (peer.version != layout_version) return Reason::other_version;
  // Who cannot tell where it is has given a reason; it stands above what seems to be another place.
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
