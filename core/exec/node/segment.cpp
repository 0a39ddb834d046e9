#include "exec/node/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include "circoll/error.hpp"
#include "exec/node/limits.hpp"
#include "facts/hash.hpp"

#ifndef MFD_NOEXEC_SEAL  // since Linux 6.3
#define MFD_NOEXEC_SEAL 8U
#endif

namespace circoll::node {
namespace {

Reason reason_of_making(int error) {
  switch (error) {
    case ENOSYS:
    case EPERM:
    case EACCES:
    case EINVAL:
      return Reason::no_memfd;
    case EMFILE:
    case ENFILE:
      return Reason::too_many_files;
    case ENOMEM:
    case ENOSPC:
      return Reason::out_of_memory;
    case EFBIG:
      return Reason::file_size_limit;
    default:
      return Reason::unexpected;
  }
}

/// The memory of a segment after its header; empty without a segment.
std::span<std::byte> behind_header(const Mapping& mapping) {
  const std::span<std::byte> memory = mapping.memory();
  return memory.empty() ? memory : memory.subspan(sizeof(SegmentHeader));
}

/// Never 0. It tells segments of different runs apart, and is no secret.
std::uint64_t make_nonce(const Address& address) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) == sizeof random && random != 0) return random;
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const Hash hash = Hash()
                        .add(static_cast<std::uint64_t>(now.tv_sec))
                        .add(static_cast<std::uint64_t>(now.tv_nsec))
                        .add(static_cast<std::uint64_t>(address.pid))
                        .add(address.start_time)
                        .add(address.inode);
  return hash.value() | 1U;
}

/// Asks the kernel for all pages now, and believes its answer. A signal may interrupt it.
bool allocate(const FileDescriptor& file, std::size_t bytes) {
  int result = 0;
  do {
    result = fallocate(file.get(), 0, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool exceeds_memory_limit(std::size_t bytes, std::size_t processes) {
  const auto room = memory_room();
  return room && *room / 2 / processes < bytes;
}

/// Some kernels demand a flag that says that the file is no program. Older kernels do not know the flag.
FileDescriptor make_file() {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  FileDescriptor file(memfd_create("circoll", flags | MFD_NOEXEC_SEAL));
  return file || errno != EINVAL ? std::move(file) : FileDescriptor(memfd_create("circoll", flags));
}

Reason reason_of_opening(int error, const Address& own, const Address& peer) {
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
  // The peer could write the header at the same time, so this reads it once. It leaves out the word that peers write.
  SegmentHeader header;
  std::memcpy(static_cast<void*>(&header), memory.data(), offsetof(SegmentHeader, trial));
  if (header.magic != SegmentHeader::expected_magic) return Reason::other_header;
  if (header.version != layout_version) return Reason::other_version;
  const bool same = header.pid == peer.pid && header.start_time == peer.start_time && header.bytes == peer.bytes &&
                    header.nonce == peer.nonce;
  return same ? Reason::none : Reason::other_header;
}

}  // namespace

Segment::Segment(std::size_t bytes, std::size_t processes) {
  require(bytes > 0 && bytes <= most_bytes, "a segment has at least one byte, and at most 2^40");
  require(processes > 0, "at least one process makes a segment");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  address_.reason = make((bytes + page - 1) / page * page, processes);
}

Reason Segment::make(std::size_t bytes, std::size_t processes) {
  address_.place = KernelPlace::here();
  address_.pid = getpid();
  const auto stat = own_stat();
  if (!stat) return errno == EMFILE || errno == ENFILE ? Reason::too_many_files : Reason::no_proc;
  if (address_.place.boot == 0) return Reason::no_proc;
  if (stat->pid != address_.pid) return Reason::foreign_proc;
  address_.start_time = stat->start_time;
  if (exceeds_file_size_limit(bytes)) return Reason::file_size_limit;
  if (exceeds_memory_limit(bytes, processes)) return Reason::memory_limit;

  FileDescriptor file = make_file();
  if (!file) return reason_of_making(errno);
  // Only a user who may look into this process can open the file. Nobody else needs it.
  if (fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) return Reason::unexpected;
  if (!allocate(file, bytes)) return reason_of_making(errno);
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return Reason::unexpected;
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return Reason::unexpected;
  mapping_ = Mapping::of(file, bytes, true);
  if (mapping_.memory().empty()) return reason_of_making(errno);

  address_.file = file.get();
  address_.device = status.st_dev;
  address_.inode = status.st_ino;
  address_.bytes = bytes;
  address_.nonce = make_nonce(address_);
  address_.header = reinterpret_cast<std::uintptr_t>(mapping_.memory().data());
  new (mapping_.memory().data())
      SegmentHeader{.pid = address_.pid, .start_time = address_.start_time, .bytes = bytes, .nonce = address_.nonce};
  file_ = std::move(file);
  return Reason::none;
}

std::span<std::byte> Segment::data() const { return behind_header(mapping_); }

bool Segment::written_by_a_peer() const {
  if (mapping_.memory().empty()) return false;
  const auto* const header = reinterpret_cast<const SegmentHeader*>(mapping_.memory().data());
  return header->trial.load(std::memory_order_acquire) == SegmentHeader::mark_of(address_.nonce);
}

PeerSegment::PeerSegment(const Address& own, const Address& peer) : reason_(map(own, peer)) {
  if (reason_ != Reason::none) mapping_ = {};
}

Reason PeerSegment::map(const Address& own, const Address& peer) {
  if (const Reason reason = obstacle_between(own, peer); reason != Reason::none) return reason;
  if (!is_alive(peer)) return Reason::peer_is_gone;
  if (!stat_of(peer.pid)) return errno == ENOENT ? Reason::peer_is_hidden : reason_of_opening(errno, own, peer);

  std::array<char, 48> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", peer.pid, peer.file);
  // Opening a file that is no segment could have an effect: a terminal, a pipe, a device. So the file is checked before
  // it is opened, and again afterwards.
  struct stat status {};
  if (stat(path.data(), &status) != 0) return reason_of_opening(errno, own, peer);
  if (!is_file_of(status, peer)) return Reason::other_file;
  const FileDescriptor file(open(path.data(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return reason_of_opening(errno, own, peer);
  if (fstat(file.get(), &status) != 0) return Reason::unexpected;
  if (!is_file_of(status, peer)) return Reason::other_file;
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return Reason::unsealed_file;

  mapping_ = Mapping::of(file, peer.bytes, false);
  if (mapping_.memory().empty()) return reason_of_opening(errno, own, peer);
  return check_header(mapping_.memory(), peer);
}

std::span<std::byte> PeerSegment::data() const { return behind_header(mapping_); }

}  // namespace circoll::node
