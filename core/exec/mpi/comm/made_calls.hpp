// The last served calls of this rank on a communicator. A rank that waits for this one without end asks for them
// (comm/stalls.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "circoll/collectives.hpp"
#include "circoll/types.hpp"

namespace circoll::mpi {

/// The properties of a call that are equal on all ranks of a correct program.
struct MadeCall {
  Collective collective = Collective::barrier;
  bool blocking : 1 = true;
  bool has_types : 1 = false;  ///< MPI_Alltoallw, which is served as an alltoallv
  std::uint16_t op = 0;        ///< of a reduction: 1 + Op, or user_op (1 more if it commutes)
  std::int32_t root = 0;
  Count bytes = -1;  ///< packed, of what all ranks know to be equal; -1: only pairs of ranks know amounts

  static constexpr std::uint16_t user_op = 0xff00;

  friend bool operator==(const MadeCall&, const MadeCall&) = default;

  /// Everything but the bytes in one word, and back.
  [[nodiscard]] std::uint64_t word() const {
    std::uint64_t word = 0;
    std::memcpy(&word, this, sizeof word);
    return word;
  }
  [[nodiscard]] static MadeCall from(std::uint64_t word, Count bytes) {
    MadeCall call;
    std::memcpy(static_cast<void*>(&call), &word, sizeof word);
    call.bytes = bytes;
    return call;
  }
};
static_assert(sizeof(Collective) == 1 && offsetof(MadeCall, op) == 2 && offsetof(MadeCall, root) == 4 &&
              offsetof(MadeCall, bytes) == 8);

/// Calls are numbered from 1 on, in the order in which the program makes them. That order is the same on all ranks. One
/// thread begins calls; any thread may end them, and look. Nothing here waits or locks.
class MadeCalls {
 public:
  /// The course of a call at this rank.
  enum class Course : std::uint8_t {
    unknown,
    not_made,
    under_way,
    ended,
    failed,  ///< it has returned an error
  };
  struct Found {
    Course course = Course::unknown;
    bool has_call = false;
    MadeCall call{};
  };

  /// The call begins now. Returns its number.
  std::uint64_t begin(const MadeCall& call) noexcept {
    const std::uint64_t number = last_.load(std::memory_order_relaxed) + 1;
    Entry& entry = entries_[number % entries_.size()];
    if (course_in(entry.state.load(std::memory_order_relaxed)) == Course::under_way) [[unlikely]]
      forgot_.store(true, std::memory_order_relaxed);
    entry.state.store(0, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
    entry.word.store(call.word(), std::memory_order_relaxed);
    entry.bytes.store(call.bytes, std::memory_order_relaxed);
    entry.state.store(state_of(number, Course::under_way), std::memory_order_release);
    last_.store(number, std::memory_order_release);
    return number;
  }
  void end(std::uint64_t number, bool failed) noexcept {
    Entry& entry = entries_[number % entries_.size()];
    if (entry.state.load(std::memory_order_relaxed) == state_of(number, Course::under_way))
      entry.state.store(state_of(number, failed ? Course::failed : Course::ended), std::memory_order_release);
  }
  /// This rank has not begun a call that other ranks may have begun. Numbers mean nothing from now on.
  void lose_count() noexcept { lost_.store(true, std::memory_order_release); }
  [[nodiscard]] bool counts() const noexcept { return !lost_.load(std::memory_order_acquire); }

  [[nodiscard]] Found find(std::uint64_t number) const noexcept {
    if (!counts() || number == 0) return {};
    if (number > last_.load(std::memory_order_acquire)) return {.course = Course::not_made};
    const Entry& entry = entries_[number % entries_.size()];
    const std::uint64_t before = entry.state.load(std::memory_order_acquire);
    const std::uint64_t word = entry.word.load(std::memory_order_relaxed);
    const Count bytes = entry.bytes.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t after = entry.state.load(std::memory_order_relaxed);
    if (before / courses != number || after / courses != number) {
      // A later call has its place. Unless one has lost its place while under way, all earlier ones have ended.
      return {.course = forgot_.load(std::memory_order_relaxed) ? Course::unknown : Course::ended};
    }
    return {.course = course_in(after), .has_call = true, .call = MadeCall::from(word, bytes)};
  }

 private:
  static constexpr std::uint64_t courses = 8;
  static constexpr std::uint64_t state_of(std::uint64_t number, Course course) {
    return number * courses + static_cast<std::uint64_t>(course);
  }
  static constexpr Course course_in(std::uint64_t state) { return static_cast<Course>(state % courses); }

  struct Entry {
    std::atomic<std::uint64_t> state{0};  ///< number and course; 0: being written
    std::atomic<std::uint64_t> word{0};
    std::atomic<Count> bytes{0};
  };
  std::array<Entry, 8> entries_{};
  std::atomic<std::uint64_t> last_{0};
  std::atomic<bool> lost_{false};
  std::atomic<bool> forgot_{false};  ///< an entry was taken for a later call while its call was under way
};

}  // namespace circoll::mpi
