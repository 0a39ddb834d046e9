// Reasons why a process of the node is not reached by memory, which the report gives in words.
#pragma once

#include <cstdint>
#include <string_view>

namespace circoll::node {

/// The answer of everything in this room. `none` says that nothing is in the way. Processes tell each other their
/// reasons (Address::reason), so a value may come from outside and be no enumerator.
enum class Reason : std::uint32_t {
  none,
  // of a process that makes its segment
  no_segment,       ///< it has not made one
  switched_off,     ///< by CIRCOLL_NODE
  no_proc,          ///< /proc does not tell who this process is
  foreign_proc,     ///< /proc is that of another pid namespace
  no_memfd,         ///< memfd_create is not there, or a filter forbids it
  file_size_limit,  ///< RLIMIT_FSIZE
  memory_limit,     ///< the control group's
  out_of_memory,    ///< the system gives no memory, or no addresses (RLIMIT_AS)
  too_many_files,   ///< RLIMIT_NOFILE
  // of two processes and where they are
  other_version,
  other_kernel,
  other_network_namespace,
  other_pid_namespace,
  other_time_namespace,
  other_user_namespace,
  // of a peer
  peer_is_gone,
  peer_is_hidden,  ///< it is there, and /proc does not show it (hidepid)
  not_permitted,   ///< another user, or PR_SET_DUMPABLE 0
  no_file,         ///< the peer has closed its file
  other_file,      ///< the file is not the one of the address
  unsealed_file,   ///< the file could be truncated under whoever has mapped it
  other_header,    ///< magic, nonce or process differ
  no_lane,         ///< the own segment has no room for one more peer
  wrong_message,   ///< a message of the peer lies outside its segment
  // of reading and writing a peer's memory directly
  not_wanted,      ///< by CIRCOLL_NODE_COPY
  no_system_call,  ///< ENOSYS
  filtered,        ///< a filter of system calls (seccomp) refuses it even for one's own memory
  ptrace_scope,    ///< Yama allows it to nobody, or to administrators only
  ptracer_unset,   ///< Yama asks for the peer's permission
  other_memory,    ///< the nonce is not where the address says
  unmapped,        ///< EFAULT
  unexpected,      ///< an error that the documentation of the system does not name here
};

/// The reason as a sentence that stands after "since", without a full stop; "nothing is in the way" for `none`.
[[nodiscard]] std::string_view to_string(Reason reason);

}  // namespace circoll::node
