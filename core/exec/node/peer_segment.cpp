#include "exec/node/peer_segment.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "exec/node/segment.hpp"

namespace circoll::node {
namespace {

Reason reason_of_error(int error, const Address& own, const Address& peer) {
  switch (error) {
    case EACCES:
    case EPERM:
      return own.place.users == peer.place.users ? Reason::not_permitted : Reason::other_user_namespace;
    // The process may have ended since it was looked for.
    case ENOENT:
    case ESRCH:
      return is_alive(peer) ? Reason::no_file : Reason::peer_is_gone;
    case EMFILE:
    case ENFILE:
      return Reason::too_many_files;
    case ENOMEM:
      return Reason::out_of_memory;
    default:
      return Reason::unexpected;
  }
}

bool is_file_of(const struct stat& status, const Address& peer) {
  return S_ISREG(status.st_mode) && status.st_dev == peer.device && status.st_ino == peer.inode &&
         status.st_size >= 0 && static_cast<std::uint64_t>(status.st_size) == peer.bytes &&
         peer.bytes >= sizeof(SegmentHeader);
}

/// Why the memory is not the peer's segment.
Reason check_header(std::span<const std::byte> memory, const Address& peer) {
  // It could be written at the same time, so it is read once; and not the word that peers write.
  SegmentHeader header;
  std::memcpy(static_cast<void*>(&header), memory.data(), offsetof(SegmentHeader, trial));
  if (header.magic != SegmentHeader::expected_magic) return Reason::other_header;
  if (header.version != layout_version) return Reason::other_version;
  const bool same = header.pid == peer.pid && header.start_time == peer.start_time && header.bytes == peer.bytes &&
                    header.nonce == peer.nonce;
  return same ? Reason::none : Reason::other_header;
}

}  // namespace

PeerSegment::PeerSegment(const Address& own, const Address& peer) : reason_(map(own, peer)) {
  if (reason_ != Reason::none) mapping_ = {};
}

Reason PeerSegment::map(const Address& own, const Address& peer) {
  if (const Reason reason = obstacle_between(own, peer); reason != Reason::none) return reason;
  if (!is_alive(peer)) return Reason::peer_is_gone;
  if (!stat_of(peer.pid)) return errno == ENOENT ? Reason::peer_is_hidden : reason_of_error(errno, own, peer);

  std::array<char, 48> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", peer.pid, peer.file);
  // To open what is no segment could do something: a terminal, a pipe, a device. So it is looked at before, and again.
  struct stat status {};
  if (stat(path.data(), &status) != 0) return reason_of_error(errno, own, peer);
  if (!is_file_of(status, peer)) return Reason::other_file;
  const FileDescriptor file(open(path.data(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return reason_of_error(errno, own, peer);
  if (fstat(file.get(), &status) != 0) return Reason::unexpected;
  if (!is_file_of(status, peer)) return Reason::other_file;
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return Reason::unsealed_file;

  mapping_ = Mapping::of(file, peer.bytes, false);
  if (mapping_.memory().empty()) return reason_of_error(errno, own, peer);
  return check_header(mapping_.memory(), peer);
}

std::span<std::byte> PeerSegment::data() const {
  const std::span<std::byte> memory = mapping_.memory();
  return memory.empty() ? memory : memory.subspan(sizeof(SegmentHeader));
}

}  // namespace circoll::node
