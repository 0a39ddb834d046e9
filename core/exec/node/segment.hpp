// Memory of this process that its peers on the node can map, and a peer's that is mapped.
//
// A segment is a file without a name (memfd_create), so that nothing is left of it when its last process has ended,
// however that was. All of its pages are there from the beginning, so that no access fails for want of memory. It is
// sealed, so that nobody can make it shorter, and no access fails in a peer either. Memory of /dev/shm would be limited
// to 64 MiB in many containers; this is not.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "exec/node/place.hpp"
#include "exec/node/reason.hpp"
#include "exec/node/system.hpp"

namespace circoll::node {

/// The beginning of a segment. Written by its owner before it tells anybody the address, but for the last word.
struct SegmentHeader {
  static constexpr std::uint64_t expected_magic = 0x676573'6c6c6f'6363ULL;

  std::uint64_t magic = expected_magic;
  std::uint32_t version = layout_version;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;
  std::uint64_t bytes = 0;  ///< of the whole segment
  std::uint64_t nonce = 0;
  /// Peers try here whether they may write. All of them write mark_of(nonce), so that they do not disturb one another.
  alignas(64) std::atomic<std::uint64_t> trial{0};

  [[nodiscard]] static constexpr std::uint64_t mark_of(std::uint64_t nonce) { return ~nonce; }
};
static_assert(sizeof(SegmentHeader) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

/// The segment of this process. If it cannot be made, reason() says why. Nothing is thrown.
///
/// A child by fork does not see the memory, but it inherits the descriptor until it calls exec. A child that lives on
/// without exec keeps the memory from being freed.
class Segment {
 public:
  static constexpr std::size_t default_bytes = std::size_t{2} << 20U;
  static constexpr std::size_t most_bytes = std::size_t{1} << 40U;
  static constexpr std::size_t alignment = alignof(SegmentHeader);  ///< of data()

  /// Makes a segment of `bytes`, header included, rounded up to pages. `processes` of the same control group do so at
  /// the same time: together they take at most half of the memory that its limit leaves. Throws
  /// Error(invalid_argument) if bytes are none or more than most_bytes, or processes none.
  explicit Segment(std::size_t bytes = default_bytes, std::size_t processes = 1);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  Segment(Segment&&) = delete;
  Segment& operator=(Segment&&) = delete;
  ~Segment() = default;

  [[nodiscard]] explicit operator bool() const { return reason() == Reason::none; }
  /// Why there is no segment.
  [[nodiscard]] Reason reason() const { return address_.reason; }
  /// The address for peers. Without a segment it says why, and where the process is.
  [[nodiscard]] const Address& address() const { return address_; }
  /// The memory after the header, zero at first; empty without a segment.
  [[nodiscard]] std::span<std::byte> data() const;
  /// True if a peer has tried to write by DirectCopy, and could. A process cannot tell by itself which peers can.
  [[nodiscard]] bool written_by_a_peer() const;

 private:
  [[nodiscard]] Reason make(std::size_t bytes, std::size_t processes);

  Address address_{};
  FileDescriptor file_{};
  Mapping mapping_{};
};

/// A mapping of a peer's segment. The constructor opens /proc/PID/fd/N, checks that it is the file of the address and
/// that it begins as the segment of that process, and closes the file. If that fails, reason() says why. Nothing is
/// thrown, and the address and the file may be anything. The memory stays when the peer's process ends.
///
/// Where /proc is not permitted, a file could be sent through a socket. But then the peer would have to answer, by a
/// thread or at a certain time. Such peers send messages by MPI instead.
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
