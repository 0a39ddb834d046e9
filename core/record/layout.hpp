// The layout of a record: a file with the last collective calls of one rank, which outlives the process.
//
// The drop-in writes it through a mapping (writer.hpp), and `circoll hang` reads the file (reader.hpp). All numbers are
// of the machine's byte order. A change of anything here needs another `layout_version`.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace circoll::record {

inline constexpr std::array<char, 8> magic{'C', 'I', 'R', 'C', 'R', 'E', 'C', '\n'};
inline constexpr std::uint32_t layout_version = 2;

inline constexpr std::size_t ring_calls = 256;         ///< the last calls that a record has
inline constexpr std::size_t comm_places = 64;         ///< communicators that it describes; others take turns
inline constexpr std::size_t comm_runs = 6;            ///< runs of ranks that describe the members of a communicator
inline constexpr std::size_t name_places = 64;         ///< names of algorithms
inline constexpr std::size_t name_bytes = 48;          ///< of each, with a zero at the end
inline constexpr std::size_t awaited_ranks = 8;        ///< peers that a long wait names
inline constexpr std::size_t stack_frames = 48;        ///< addresses of a stack
inline constexpr std::uint64_t world_id = 1;           ///< of MPI_COMM_WORLD, as Call::comm has it
inline constexpr std::uint64_t unknown_comm = 0;       ///< of one whose making was not seen, in its first call
inline constexpr std::uint16_t native_name = 0;        ///< Call::algorithm of a native call
inline constexpr std::uint16_t unknown_name = 0xffff;  ///< of a call that has not ended, or has no place for its name

/// The course of the process, as far as MPI goes.
enum class Phase : std::uint32_t {
  running = 1,     ///< between MPI_Init and MPI_Finalize
  finalizing = 2,  ///< in MPI_Finalize
  ended = 3,       ///< MPI_Finalize has returned
};

/// The kinds of calls. A nonblocking call is over when its operation is, which is seen of served ones only.
enum class CallMode : std::uint8_t {
  blocking,
  nonblocking,
  persistent_init,
  persistent_start,
};

/// Properties of a call that are no numbers.
enum CallFlag : std::uint8_t {
  with_types = 1,   ///< MPI_Alltoallw
  failed_call = 2,  ///< it has returned an error
  unseen_end = 4,   ///< nobody sees when it is complete: a native call that does not block
  intercomm = 8,    ///< the communicator has two groups
};

inline constexpr std::uint8_t unknown_type = 0xff;  ///< a datatype that is not predefined, or has no element type
inline constexpr std::uint8_t unknown_op = 0xff;    ///< no operator, or a user's

/// One call. `sequence` is the number of the call among all of the rank, from 1 on. 0: the entry is being written.
struct Call {
  std::atomic<std::uint64_t> sequence{0};
  std::uint64_t comm = 0;                              ///< CommPlace::id
  std::uint64_t number = 0;                            ///< of the call on the communicator, from 1 on
  std::int64_t bytes = -1;                             ///< that all ranks know to be equal; -1: there are none such
  std::int64_t begin_ns = 0;                           ///< CLOCK_MONOTONIC_COARSE
  std::atomic<std::int64_t> end_ns{0};                 ///< 0: the call is under way
  std::int32_t root = -1;                              ///< in the communicator; -1: it has none
  std::uint8_t collective = 0;                         ///< Collective
  std::uint8_t neighbor = 0;                           ///< 1 + NeighborFunction; 0: among all ranks
  std::uint8_t mode = 0;                               ///< CallMode
  std::uint8_t type = unknown_type;                    ///< Type
  std::uint8_t op = unknown_op;                        ///< Op
  std::atomic<std::uint8_t> flags{0};                  ///< CallFlag
  std::atomic<std::uint16_t> algorithm{unknown_name};  ///< into Record::names
  std::uint32_t thread = 0;                            ///< a number of the calling thread
};
static_assert(sizeof(Call) == 64);

/// Ranks of MPI_COMM_WORLD: `count` of them from `first` on, each `stride` after the one before.
struct RankRun {
  std::int32_t first = 0;
  std::int32_t stride = 1;
  std::int32_t count = 0;
};

/// A communicator. `sequence` grows with each description; 0: the place is empty, or being written.
struct CommPlace {
  std::atomic<std::uint64_t> sequence{0};
  std::uint64_t id = 0;      ///< equal on all its ranks
  std::int32_t size = 0;     ///< of all its groups
  std::int32_t rank = -1;    ///< of this process, in its group
  std::uint32_t runs = 0;    ///< of its members; 0: they are not known, or too many
  std::uint32_t by_use = 0;  ///< 1: its making was not seen, and its id counts communicators by their first use
  std::atomic<std::uint64_t> calls{0};  ///< the number of the last call on it
  std::array<RankRun, comm_runs> members{};
  std::array<char, 16> name{};
};
static_assert(sizeof(CommPlace) == 128);

/// A wait that has become long. It is about the call with the number `call`, as long as that is under way.
struct Wait {
  std::atomic<std::uint64_t> sequence{0};  ///< grows with each note; odd: being written
  std::uint64_t call = 0;                  ///< Call::sequence
  std::uint32_t peers = 0;                 ///< how many ranks are waited for
  std::uint32_t message = 0;               ///< of the first of them: its number between the two ranks, from 1 on
  std::array<std::int32_t, awaited_ranks> ranks{};  ///< in the communicator
};

/// The stack of the main thread, written when another process asks by a signal.
struct Stack {
  std::atomic<std::uint64_t> taken{0};  ///< grows with each
  std::uint64_t depth = 0;
  std::array<std::uint64_t, stack_frames> addresses{};
};

/// Facts that hold as long as the process lives.
struct Head {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;  ///< of the whole file
  std::int64_t pid = 0;
  std::uint64_t process_start = 0;        ///< field 22 of /proc/PID/stat, which tells the process from a later one
  std::uint64_t job = 0;                  ///< equal on all ranks of MPI_COMM_WORLD
  std::int64_t started_ns = 0;            ///< CLOCK_REALTIME
  std::int64_t started_monotonic_ns = 0;  ///< CLOCK_MONOTONIC_COARSE at the same time
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t signal = 0;  ///< has the process write its stack; 0: none does
  std::int32_t unused = 0;
  std::array<char, 64> host{};
  std::array<char, 64> boot{};  ///< boot_id() of record/process.hpp
  std::array<char, 64> mpi{};
  std::array<char, 64> program{};
};

struct Record {
  Head head{};
  alignas(64) std::atomic<std::uint64_t> begun{0};  ///< calls, in all
  std::atomic<std::uint32_t> phase{0};
  alignas(64) Wait wait{};
  alignas(64) Stack stack{};
  std::array<std::array<char, name_bytes>, name_places> names{};
  std::array<CommPlace, comm_places> comms{};
  alignas(64) std::array<Call, ring_calls> calls{};
};
static_assert(std::is_standard_layout_v<Record> && std::is_trivially_destructible_v<Record>);
static_assert(sizeof(Record) <= 64 * 1024, "a record takes at most 64 KiB a process");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint16_t>::is_always_lock_free);

}  // namespace circoll::record
