#include "exec/node/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <new>

#include "circoll/error.hpp"
#include "exec/node/memory_limit.hpp"
#include "facts/hash.hpp"

#ifndef MFD_NOEXEC_SEAL  // since Linux 6.3
#define MFD_NOEXEC_SEAL 8U
#endif

namespace circoll::node {
namespace {

Reason reason_of_error(int error) {
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

/// Takes the kernel's word that all pages are there. A signal may interrupt it.
bool allocate(const FileDescriptor& file, std::size_t bytes) {
  int result = 0;
  do {
    result = fallocate(file.get(), 0, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// A file that is beyond the limit gets its process the signal SIGXFSZ, which ends it, instead of an error.
bool exceeds_file_size_limit(std::size_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes;
}

bool exceeds_memory_limit(std::size_t bytes, std::size_t processes) {
  const auto room = memory_room();
  return room && *room / 2 / processes < bytes;
}

/// Kernels may demand that a file says that it is no program, and older ones do not know how.
FileDescriptor make_file() {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  FileDescriptor file(memfd_create("circoll", flags | MFD_NOEXEC_SEAL));
  return file || errno != EINVAL ? std::move(file) : FileDescriptor(memfd_create("circoll", flags));
}

}  // namespace

Segment::Segment(std::size_t bytes, std::size_t processes) {
  require(bytes > 0 && bytes <= most_bytes, "a segment has at least one byte, and at most 2^40");
  require(processes > 0, "at least one process makes a segment");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  address_.reason = make((bytes + page - 1) / page * page, processes);
}

Reason Segment::make(std::size_t bytes, std::size_t processes) {
  address_.place = Place::here();
  address_.pid = getpid();
  const auto stat = own_stat();
  if (!stat) return errno == EMFILE || errno == ENFILE ? Reason::too_many_files : Reason::no_proc;
  if (address_.place.boot == 0) return Reason::no_proc;
  if (stat->pid != address_.pid) return Reason::foreign_proc;
  address_.start_time = stat->start_time;
  if (exceeds_file_size_limit(bytes)) return Reason::file_size_limit;
  if (exceeds_memory_limit(bytes, processes)) return Reason::memory_limit;

  FileDescriptor file = make_file();
  if (!file) return reason_of_error(errno);
  // Who may look into this process can open it; nobody else has a use for it.
  if (fchmod(file.get(), S_IRUSR | S_IWUSR) != 0) return Reason::unexpected;
  if (!allocate(file, bytes)) return reason_of_error(errno);
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return Reason::unexpected;
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return Reason::unexpected;
  mapping_ = Mapping::of(file, bytes, true);
  if (mapping_.memory().empty()) return reason_of_error(errno);

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

std::span<std::byte> Segment::data() const {
  const std::span<std::byte> memory = mapping_.memory();
  return memory.empty() ? memory : memory.subspan(sizeof(SegmentHeader));
}

bool Segment::written_by_a_peer() const {
  if (mapping_.memory().empty()) return false;
  const auto* const header = reinterpret_cast<const SegmentHeader*>(mapping_.memory().data());
  return header->trial.load(std::memory_order_acquire) == SegmentHeader::mark_of(address_.nonce);
}

}  // namespace circoll::node
