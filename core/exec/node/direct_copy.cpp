#include "exec/node/direct_copy.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "exec/node/limits.hpp"
#include "exec/node/segment.hpp"

#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#define PR_SET_PTRACER_ANY (~0UL)
#endif

namespace circoll::node {
namespace {

/// process_vm_readv or process_vm_writev; the first vector is of this process.
using SystemCall = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

Reason reason_of_copying(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return Reason::not_permitted;
    case ENOSYS:
      return Reason::no_system_call;
    case ESRCH:
      return Reason::peer_is_gone;
    case EFAULT:
    case EINVAL:
      return Reason::unmapped;  // a range beyond the end of the addresses
    case ENOMEM:
      return Reason::out_of_memory;
    default:
      return Reason::unexpected;
  }
}

Copied copy(SystemCall call, pid_t pid, std::byte* local, std::uint64_t remote, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t next = std::min(bytes - done, DirectCopy::most_bytes_of_call);
    const iovec here{local + done, next};
    // The address is the peer's, so that it is no pointer here.
    const iovec there{reinterpret_cast<void*>(remote + done), next};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t copied = call(pid, &here, 1, &there, 1, 0);
    if (copied > 0) {
      done += static_cast<std::size_t>(copied);  // fewer than asked for: the next call says why
    } else if (copied == 0 || errno != EINTR) {
      return {done, copied == 0 ? Reason::unmapped : reason_of_copying(errno)};
    }
  }
  return {done, Reason::none};
}

/// kernel.yama.ptrace_scope; 0 without Yama.
std::uint64_t ptrace_scope() { return number_in("/proc/sys/kernel/yama/ptrace_scope").value_or(0); }

/// Looks for what does not permit a call.
Reason refusal(SystemCall call, const Address& own, const Address& peer) {
  // One's own memory is permitted by every rule, so that only a filter forbids it.
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  const Copied copied =
      copy(call, getpid(), reinterpret_cast<std::byte*>(&to), reinterpret_cast<std::uintptr_t>(&from), sizeof from);
  if (copied.reason == Reason::not_permitted) return Reason::filtered;
  if (own.place.users != peer.place.users) return Reason::other_user_namespace;
  const std::uint64_t scope = ptrace_scope();
  if (scope >= 2) return Reason::ptrace_scope;
  return scope == 1 ? Reason::ptracer_unset : Reason::not_permitted;
}

/// Copies a word of the peer's header; says why not in the words of the report.
Reason copy_word(SystemCall call, const Address& own, const Address& peer, std::size_t offset, std::uint64_t& word) {
  const Copied copied = copy(call, peer.pid, reinterpret_cast<std::byte*>(&word), peer.header + offset, sizeof word);
  if (copied.reason == Reason::not_permitted) return refusal(call, own, peer);
  return copied.reason == Reason::unmapped ? Reason::other_memory : copied.reason;
}

}  // namespace

Reason let_peers_copy() {
  const std::uint64_t scope = ptrace_scope();
  if (scope >= 2) return Reason::ptrace_scope;
  if (scope == 0) return Reason::none;
  return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0 ? Reason::none : Reason::unexpected;
}

void let_no_peers_copy() { (void)prctl(PR_SET_PTRACER, 0, 0, 0, 0); }

DirectCopy::DirectCopy(const Address& own, const Address& peer) : pid_(peer.pid) {
  reading_ = writing_ = obstacle_between(own, peer);
  if (reading_ != Reason::none) return;
  if (!is_alive(peer)) {
    reading_ = writing_ = Reason::peer_is_gone;
    return;
  }
  std::uint64_t word = 0;
  reading_ = copy_word(process_vm_readv, own, peer, offsetof(SegmentHeader, nonce), word);
  if (reading_ == Reason::none && word != peer.nonce) reading_ = Reason::other_memory;
  writing_ = reading_;
  // Nothing is written where the nonce has not been read: it could be anybody's memory.
  if (reading_ != Reason::none) return;
  word = SegmentHeader::mark_of(peer.nonce);
  writing_ = copy_word(process_vm_writev, own, peer, offsetof(SegmentHeader, trial), word);
  if (writing_ != Reason::none) return;
  word = 0;
  writing_ = copy_word(process_vm_readv, own, peer, offsetof(SegmentHeader, trial), word);
  if (writing_ == Reason::none && word != SegmentHeader::mark_of(peer.nonce)) writing_ = Reason::other_memory;
}

Copied DirectCopy::read(std::byte* to, std::uint64_t from, std::size_t bytes) const {
  if (reading_ != Reason::none) return {0, reading_};
  return copy(process_vm_readv, pid_, to, from, bytes);
}

Copied DirectCopy::write(std::uint64_t to, const std::byte* from, std::size_t bytes) const {
  if (writing_ != Reason::none) return {0, writing_};
  // The system call has one form for both directions; it reads from this process.
  return copy(process_vm_writev, pid_, const_cast<std::byte*>(from), to, bytes);
}

}  // namespace circoll::node
