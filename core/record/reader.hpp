// Reads records (layout.hpp) that other processes have written, or are writing. It trusts nothing in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "circoll/types.hpp"
#include "facts/called_collective.hpp"
#include "record/layout.hpp"

namespace circoll::record {

/// One call of a record.
struct ReadCall {
  std::uint64_t sequence = 0;  ///< among all calls of the rank, from 1 on
  std::uint64_t comm = 0;
  std::uint64_t number = 0;  ///< on the communicator, from 1 on
  CalledCollective collective{};
  CallMode mode = CallMode::blocking;
  std::optional<Rank> root{};
  std::optional<Count> bytes{};
  std::optional<Type> type{};
  std::optional<Op> op{};
  bool failed = false;
  bool unseen_end = false;
  bool intercomm = false;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  ///< 0: it is under way, as far as is known
  std::string algorithm{};  ///< empty: not known
  std::uint32_t thread = 0;

  /// True if the rank is in the call: it blocks, and has not returned.
  [[nodiscard]] bool blocks() const { return end_ns == 0 && mode == CallMode::blocking; }
  /// True if it takes a place in the order of calls on its communicator.
  [[nodiscard]] bool counts() const { return mode != CallMode::persistent_start; }
};

/// A communicator of a record.
struct ReadComm {
  std::uint64_t id = 0;
  int size = 0;
  int rank = -1;
  bool by_use = false;
  std::uint64_t calls = 0;         ///< the number of the rank's last call on it
  std::vector<RankRun> members{};  ///< in MPI_COMM_WORLD; empty: not known
  std::string name{};

  /// The rank here of a rank of MPI_COMM_WORLD; nothing if it is no member.
  [[nodiscard]] std::optional<Rank> rank_of(Rank world) const;
  /// The rank in MPI_COMM_WORLD of one here; nothing if that is not known.
  [[nodiscard]] std::optional<Rank> world_rank(Rank rank) const;
};

/// A long wait.
struct ReadWait {
  std::uint64_t call = 0;  ///< ReadCall::sequence
  std::size_t peers = 0;
  std::uint32_t message = 0;
  std::vector<Rank> ranks{};  ///< the first of them, in the communicator
};

struct ReadRecord {
  std::string path{};
  std::string complaint{};  ///< one sentence; the rest says nothing then
  std::int64_t pid = 0;
  std::uint64_t process_start = 0;
  std::uint64_t job = 0;
  std::int64_t started_ns = 0;
  std::int64_t started_monotonic_ns = 0;
  int rank = 0;
  int size = 1;
  int signal = 0;
  std::string host{}, boot{}, mpi{}, program{};
  Phase phase = Phase::running;
  std::uint64_t begun = 0;        ///< calls in all
  std::size_t torn = 0;           ///< entries that were being written
  std::vector<ReadCall> calls{};  ///< the last ones, in the order of their beginning
  std::vector<ReadComm> comms{};
  std::optional<ReadWait> wait{};
  std::uint64_t stacks = 0;  ///< how many were taken
  std::vector<std::uint64_t> stack{};

  [[nodiscard]] const ReadComm* comm(std::uint64_t id) const;
};

/// Interprets the bytes of a record. The three are those of the file at three moments, in order. An entry counts only
/// if its sequence number was the same in the first and in the last, so that the one in the middle is whole.
[[nodiscard]] ReadRecord parse_record(std::span<const std::byte> before, std::span<const std::byte> between,
                                      std::span<const std::byte> after);
/// Reads a file three times. Errors are complaints.
[[nodiscard]] ReadRecord read_record(const std::string& path);

}  // namespace circoll::record
