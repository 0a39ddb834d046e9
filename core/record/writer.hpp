// Writes the record of one rank: a few plain stores a call, into a mapping of a file.
//
// No function that a call makes takes a lock, allocates, or enters the kernel. The drop-in uses it
// (interpose/recorder.hpp), and tests without MPI.
#pragma once

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX's

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "circoll/types.hpp"
#include "record/layout.hpp"

namespace circoll::record {

/// The facts that a new record begins with.
struct Facts {
  int rank = 0;
  int size = 1;
  std::uint64_t job = 0;
  std::string_view mpi{};
  std::string_view program{};
  int signal = 0;  ///< as Head::signal
};

/// A call that begins. The fields are those of Call.
struct Begun {
  std::uint64_t comm = world_id;
  std::uint64_t number = 0;
  std::int64_t bytes = -1;
  std::int32_t root = -1;
  std::uint8_t collective = 0;
  std::uint8_t neighbor = 0;
  CallMode mode = CallMode::blocking;
  std::uint8_t type = unknown_type;
  std::uint8_t op = unknown_op;
  std::uint8_t flags = 0;
  std::uint32_t thread = 0;
};

/// Nanoseconds of the clock that costs least. It moves in steps of some milliseconds.
[[nodiscard]] inline std::int64_t coarse_ns() noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Copies text into a field with a zero at its end; what is too long is cut.
void put_text(std::span<char> field, std::string_view text) noexcept;

class Writer {
 public:
  /// Makes the file anew. nullptr with a sentence in `*why_not` if that is not possible: no room, no permission.
  [[nodiscard]] static std::unique_ptr<Writer> create(const std::string& path, const Facts& facts,
                                                      std::string* why_not);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Returns the call's sequence number for end(). Several threads may begin calls, whatever MPI's thread level.
  std::uint64_t begin(const Begun& call) noexcept {
    const std::uint64_t sequence = record_->begun.fetch_add(1, relaxed) + 1;
    Call& entry = record_->calls[sequence % ring_calls];
    entry.sequence.store(0, relaxed);
    // A reader that sees anything of the new call sees the 0, too.
    std::atomic_thread_fence(std::memory_order_release);
    entry.comm = call.comm;
    entry.number = call.number;
    entry.bytes = call.bytes;
    entry.begin_ns = coarse_ns();
    entry.end_ns.store(0, relaxed);
    entry.root = call.root;
    entry.collective = call.collective;
    entry.neighbor = call.neighbor;
    entry.mode = static_cast<std::uint8_t>(call.mode);
    entry.type = call.type;
    entry.op = call.op;
    entry.flags.store(call.flags, relaxed);
    entry.algorithm.store(unknown_name, relaxed);
    entry.thread = call.thread;
    entry.sequence.store(sequence, std::memory_order_release);
    begun_here = sequence;
    return sequence;
  }

  /// The call is over. Does nothing if a later one has taken its entry.
  void end(std::uint64_t sequence, std::uint16_t algorithm, std::uint8_t flags = 0) noexcept {
    Call& entry = record_->calls[sequence % ring_calls];
    if (entry.sequence.load(relaxed) != sequence) return;
    entry.algorithm.store(algorithm, relaxed);
    if (flags != 0) entry.flags.store(static_cast<std::uint8_t>(entry.flags.load(relaxed) | flags), relaxed);
    entry.end_ns.store(coarse_ns(), std::memory_order_release);
  }

  /// The call has returned, and nobody sees the end of its operation.
  void leave(std::uint64_t sequence) noexcept {
    Call& entry = record_->calls[sequence % ring_calls];
    if (entry.sequence.load(relaxed) != sequence) return;
    entry.algorithm.store(native_name, relaxed);
    entry.flags.store(static_cast<std::uint8_t>(entry.flags.load(relaxed) | unseen_end), relaxed);
  }

  /// The place of a name for end(); `unknown_name` if there is none left. Not for two threads at a time.
  [[nodiscard]] std::uint16_t name(std::string_view algorithm) noexcept;

  /// Describes a communicator at a place below comm_places. Not for two threads at a time. `members`: its ranks in
  /// MPI_COMM_WORLD; empty: they are not known.
  void describe(std::size_t place, std::uint64_t id, int size, int rank, std::span<const int> members,
                std::string_view name, bool by_use) noexcept;

  /// The number of the last call on the communicator that is described at a place.
  void count(std::size_t place, std::uint64_t calls) noexcept { record_->comms[place].calls.store(calls, relaxed); }

  /// Notes for whom the call that this thread began last waits. The ranks are those of its communicator.
  void note_wait(std::span<const Rank> peers, std::uint32_t message) noexcept;

  void enter(Phase phase) noexcept {
    record_->phase.store(static_cast<std::uint32_t>(phase), std::memory_order_release);
  }
  /// Takes the file away. The mapping stays, since calls may still be under way.
  void remove() noexcept;
  /// The memory for a handler of signals.
  [[nodiscard]] Stack& stack() noexcept { return record_->stack; }
  [[nodiscard]] const Record& record() const noexcept { return *record_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  static constexpr auto relaxed = std::memory_order_relaxed;
  /// The call that this thread began last.
  static constinit thread_local std::uint64_t begun_here;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

  Writer(std::string path, Record* record) : path_(std::move(path)), record_(record) {}

  std::string path_;
  Record* record_;
  std::uint16_t names_ = 1;  ///< place 0 stands for native
};

}  // namespace circoll::record
