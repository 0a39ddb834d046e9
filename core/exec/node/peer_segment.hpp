// The segment of a peer on the node, mapped into this process.
#pragma once

#include <cstddef>
#include <span>

#include "exec/node/address.hpp"
#include "exec/node/reason.hpp"
#include "exec/node/system.hpp"

namespace circoll::node {

/// A mapping of a peer's segment. The constructor opens /proc/PID/fd/N, checks that it is the file of the address, and
/// that it begins as the segment of that process; it closes the file again. What fails is told by reason(). Nothing is
/// thrown, and the address and the file may be anything. The memory stays when the peer's process ends.
///
/// A file could be sent through a socket, too, where /proc is not permitted. It would need the peer to answer, by a
/// thread or at a certain time; such peers send messages by MPI instead.
class PeerSegment {
 public:
  PeerSegment() = default;
  PeerSegment(const Address& own, const Address& peer);

  [[nodiscard]] explicit operator bool() const { return reason_ == Reason::none; }
  [[nodiscard]] Reason reason() const { return reason_; }
  /// The peer's Segment::data(); empty if it is not mapped. Pages are mapped at their first use.
  [[nodiscard]] std::span<std::byte> data() const;

 private:
  [[nodiscard]] Reason map(const Address& own, const Address& peer);

  Mapping mapping_{};
  Reason reason_ = Reason::no_segment;
};

}  // namespace circoll::node
