#include "record/writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "facts/files.hpp"
#include "record/process.hpp"

namespace circoll::record {
namespace {

std::string sentence(const std::string& path, const char* what, int error) {
  return "'" + path + "' " + what + ": " + std::strerror(error);  // NOLINT(concurrency-mt-unsafe): while MPI begins
}

/// Runs of ranks; 0 if they do not fit.
std::uint32_t runs_of(std::span<const int> members, std::array<RankRun, comm_runs>& runs) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < members.size();) {
    if (count == comm_runs) return 0;
    RankRun run{.first = members[i], .stride = 1, .count = 1};
    if (i + 1 < members.size()) run.stride = members[i + 1] - members[i];
    while (i + static_cast<std::size_t>(run.count) < members.size() &&
           members[i + static_cast<std::size_t>(run.count)] == run.first + run.stride * run.count)
      ++run.count;
    i += static_cast<std::size_t>(run.count);
    runs[count++] = run;
  }
  return static_cast<std::uint32_t>(count);
}

}  // namespace

constinit thread_local std::uint64_t Writer::begun_here = 0;

void put_text(std::span<char> field, std::string_view text) noexcept {
  const std::size_t length = std::min(text.size(), field.size() - 1);
  std::copy_n(text.begin(), length, field.begin());
  std::fill(field.begin() + static_cast<std::ptrdiff_t>(length), field.end(), '\0');
}

std::unique_ptr<Writer> Writer::create(const std::string& path, const Facts& facts, std::string* why_not) {
  if (exceeds_file_size_limit(sizeof(Record))) {
    *why_not = "'" + path + "' may not be written: the limit on the size of files (ulimit -f) is below " +
               std::to_string(sizeof(Record)) + " bytes";
    return nullptr;
  }
  (void)unlink(path.c_str());  // of a process of that name that is gone; a link is not followed
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) {
    *why_not = sentence(path, "cannot be made", errno);
    return nullptr;
  }
  // All pages now: the system would end the process by SIGBUS where a later store found no room.
  if (const int error = posix_fallocate(file.get(), 0, sizeof(Record)); error != 0) {
    *why_not = sentence(path, "has no room", error);
    (void)unlink(path.c_str());
    return nullptr;
  }
  void* const memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    *why_not = sentence(path, "cannot be mapped", errno);
    (void)unlink(path.c_str());
    return nullptr;
  }
  auto* const record = new (memory) Record;
  Head& head = record->head;
  head.bytes = sizeof(Record);
  head.pid = getpid();
  head.process_start = process_start(getpid());
  head.job = facts.job;
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  head.started_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  head.started_monotonic_ns = coarse_ns();
  head.rank = facts.rank;
  head.size = facts.size;
  head.signal = facts.signal;
  put_text(head.host, host_name());
  put_text(head.boot, boot_id());
  put_text(head.mpi, facts.mpi);
  put_text(head.program, facts.program);
  put_text(record->names[0], "native");
  record->phase.store(static_cast<std::uint32_t>(Phase::running), relaxed);
  head.version = layout_version;
  // Readers take the file for a record from now on.
  std::atomic_thread_fence(std::memory_order_release);
  head.magic = magic;
  return std::unique_ptr<Writer>(new Writer(path, record));
}

Writer::~Writer() { (void)munmap(record_, sizeof(Record)); }

void Writer::remove() noexcept { (void)unlink(path_.c_str()); }

std::uint16_t Writer::name(std::string_view algorithm) noexcept {
  for (std::uint16_t i = 0; i < names_; ++i) {
    if (algorithm.substr(0, name_bytes - 1) == record_->names[i].data()) return i;
  }
  if (names_ == name_places) return unknown_name;
  put_text(record_->names[names_], algorithm);
  return names_++;
}

void Writer::describe(std::size_t place, std::uint64_t id, int size, int rank, std::span<const int> members,
                      std::string_view name, bool by_use) noexcept {
  CommPlace& comm = record_->comms[place % comm_places];
  const std::uint64_t next = comm.sequence.load(relaxed) + 1;
  comm.sequence.store(0, relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  comm.id = id;
  comm.size = size;
  comm.rank = rank;
  comm.by_use = by_use ? 1 : 0;
  comm.runs = runs_of(members, comm.members);
  put_text(comm.name, name);
  comm.sequence.store(next, std::memory_order_release);
}

void Writer::note_wait(std::span<const Rank> peers, std::uint32_t message) noexcept {
  Wait& wait = record_->wait;
  std::uint64_t before = wait.sequence.load(relaxed);
  // Another thread may be writing: one note is enough.
  if (before % 2 != 0 || !wait.sequence.compare_exchange_strong(before, before + 1, relaxed)) return;
  std::atomic_thread_fence(std::memory_order_release);
  wait.call = begun_here;
  wait.peers = static_cast<std::uint32_t>(peers.size());
  wait.message = message;
  for (std::size_t i = 0; i < std::min(peers.size(), awaited_ranks); ++i)
    wait.ranks[i] = static_cast<std::int32_t>(peers[i]);
  wait.sequence.store(before + 2, std::memory_order_release);
}

}  // namespace circoll::record
