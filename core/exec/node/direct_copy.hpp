// Copies between the memory of this process and that of a peer on the node. The peer has nothing to do for them
// (process_vm_readv, process_vm_writev).
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/node/address.hpp"
#include "exec/node/reason.hpp"

namespace circoll::node {

/// The outcome of a copy. Without a reason, all bytes have been copied.
struct Copied {
  std::size_t bytes = 0;
  Reason reason = Reason::none;

  [[nodiscard]] explicit operator bool() const { return reason == Reason::none; }
};

/// Lets every process of this user read and write this one, by PR_SET_PTRACER_ANY. The Yama security module asks for
/// that permission where kernel.yama.ptrace_scope is 1. Other settings need none, and then nothing is changed. It
/// widens who may look into the process, so a user must be able to switch it off, by not calling it. `ptrace_scope` if
/// Yama allows it to administrators only.
Reason let_peers_copy();
/// Takes the permission back, even if another library of the process has given it.
void let_no_peers_copy();

/// Reading and writing the memory of one peer. The constructor tries it: it reads the nonce of the peer's segment, and
/// writes a word that is there for that. Whether the peer can read this process, only the peer can tell.
///
/// A peer that has ended is an error as others, but its pid may pass to another process of the user meanwhile. So
/// copies are for peers that are known to wait for them.
class DirectCopy {
 public:
  /// One call of the system copies no more.
  static constexpr std::size_t most_bytes_of_call = 0x7ffff000;

  DirectCopy() = default;
  DirectCopy(const Address& own, const Address& peer);

  /// Why memory of the peer cannot be read; `none` if it can.
  [[nodiscard]] Reason reading() const { return reading_; }
  /// Why it cannot be written.
  [[nodiscard]] Reason writing() const { return writing_; }

  /// Copies `bytes` from the peer's memory, at an address of the peer's. What the constructor was refused is refused.
  /// Memory that is not mapped, on either side, is the reason `unmapped`; what lies before it may have been copied.
  [[nodiscard]] Copied read(std::byte* to, std::uint64_t from, std::size_t bytes) const;
  /// Copies `bytes` into the peer's memory.
  [[nodiscard]] Copied write(std::uint64_t to, const std::byte* from, std::size_t bytes) const;

 private:
  std::int32_t pid_ = 0;
  Reason reading_ = Reason::no_segment;
  Reason writing_ = Reason::no_segment;
};

}  // namespace circoll::node
