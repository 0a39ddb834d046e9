#include "exec/node/reason.hpp"

namespace circoll::node {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "nothing is in the way";
    case Reason::no_segment:
      return "the process has no segment";
    case Reason::switched_off:
      return "the user has set CIRCOLL_NODE to off";
    case Reason::no_proc:
      return "the process cannot read its own entries in /proc (/proc/self, boot_id)";
    case Reason::foreign_proc:
      return "/proc shows the processes of another pid namespace";
    case Reason::no_memfd:
      return "memfd_create is not permitted or not known here";
    case Reason::file_size_limit:
      return "the limit on the size of files is below a segment's (RLIMIT_FSIZE)";
    case Reason::memory_limit:
      return "the memory limit of the control group leaves too little for segments";
    case Reason::out_of_memory:
      return "the system gives no memory or addresses for the segment";
    case Reason::too_many_files:
      return "no file can be opened any more (RLIMIT_NOFILE)";
    case Reason::other_version:
      return "the peer's version of Circoll has another layout of segments";
    case Reason::other_kernel:
      return "the peer runs on another node";
    case Reason::other_network_namespace:
      return "the peer is in another network namespace";
    case Reason::other_pid_namespace:
      return "the peer is in another pid namespace";
    case Reason::other_time_namespace:
      return "the peer is in another time namespace";
    case Reason::other_user_namespace:
      return "the peer is in another user namespace, and access is not permitted";
    case Reason::peer_is_gone:
      return "the peer's process has ended";
    case Reason::peer_is_hidden:
      return "/proc does not show the peer's process (hidepid)";
    case Reason::not_permitted:
      return "the system does not permit it: the peer has another user, or is not dumpable (PR_SET_DUMPABLE)";
    case Reason::no_file:
      return "the peer has closed the file of its segment";
    case Reason::other_file:
      return "the peer's file is not its segment";
    case Reason::unsealed_file:
      return "the peer's file could be made shorter while it is used";
    case Reason::other_header:
      return "the header of the peer's segment is not of this run";
    case Reason::no_lane:
      return "its segment has no room for one more peer";
    case Reason::wrong_message:
      return "a message of the peer lies outside its segment";
    case Reason::not_wanted:
      return "the user has set CIRCOLL_NODE_COPY to segment";
    case Reason::no_system_call:
      return "the system has no process_vm_readv, or hides it (ENOSYS)";
    case Reason::filtered:
      return "a filter of system calls forbids process_vm_readv or process_vm_writev (seccomp)";
    case Reason::ptrace_scope:
      return "kernel.yama.ptrace_scope lets no process read another";
    case Reason::ptracer_unset:
      return "kernel.yama.ptrace_scope is 1, and the peer has not permitted others to read its memory";
    case Reason::other_memory:
      return "a test found wrong bytes in the memory of the peer";
    case Reason::unmapped:
      return "the memory is not mapped, or is a device's (EFAULT)";
    case Reason::unexpected:
      return "the system refused it with an unexpected error";
  }
  return "the peer gives a reason that this version does not know";
}

}  // namespace circoll::node
