// The binary form of CIRCOLL_TRACE: all calls of all ranks, with what is needed to play the program again.
//
// The drop-in writes it (interpose/call_tracer.hpp), and lab/whatif reads it. A call takes about ten bytes: calls
// refer to shapes, and times are differences in nanoseconds. docs/adr/0047 has the reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "facts/call_mode.hpp"
#include "facts/called_collective.hpp"
#include "facts/files.hpp"

namespace circoll::trace {

/// Names of files that end so have this form. All others are traces in JSON.
inline constexpr std::string_view file_suffix = ".calls";
/// A file begins with this.
inline constexpr std::string_view file_magic = "circoll-calls ";

/// The properties of an operator that decide about algorithms; the defaults where a collective has none.
struct OperatorFacts {
  bool commutative = true;
  bool idempotent = false;
  bool exact = true;       ///< all orders of evaluation give the same bits
  bool predefined = true;  ///< MPI's own
  friend bool operator==(const OperatorFacts&, const OperatorFacts&) = default;
};

/// The properties that calls of one rank have in common.
struct Shape {
  CalledCollective collective{};
  CallMode mode = CallMode::blocking;
  std::uint32_t communicator = 0;  ///< index of this rank's communicators
  Count count = 0;          ///< elements of the rank's contribution or block, as the report counts bytes (docs/user)
  Count element_bytes = 1;  ///< packed
  OperatorFacts op{};
  Rank root = 0;              ///< in the communicator; 0 where there is none
  std::uint32_t request = 0;  ///< of a persistent call: the number of its request among those of the communicator
  std::string served{};       ///< "native", or the algorithm with parameters that served it

  [[nodiscard]] Count bytes() const { return count * element_bytes; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// A communicator of one rank.
struct Communicator {
  /// all: the ranks of MPI_COMM_WORLD in their order. foreign: an intercommunicator, or one with processes that are not
  /// in MPI_COMM_WORLD.
  enum class Kind : std::uint8_t { all, some, foreign };
  Kind kind = Kind::all;
  std::uint32_t instance = 0;   ///< its number among this rank's communicators with the same members, from 0
  std::vector<Rank> members{};  ///< of `some`: ranks in MPI_COMM_WORLD
  friend bool operator==(const Communicator&, const Communicator&) = default;
};

/// A call that blocks, or the start of another one.
struct Call {
  std::uint32_t shape = 0;    ///< index of this rank's shapes
  std::int64_t begin_ns = 0;  ///< since the rank's program began, by its own clock
  std::int64_t end_ns = 0;    ///< when the entry point returned
  friend bool operator==(const Call&, const Call&) = default;
};

/// Facts about one rank's program.
struct RankFacts {
  Rank rank = 0;
  std::int64_t dropped = 0;   ///< calls that are missing, since there was no place for them
  std::int64_t begin_ns = 0;  ///< when its program began, by the common clock
  std::int64_t end_ns = 0;    ///< when its program ended, since it began, by its own clock
  double clock_rate = 1;      ///< seconds of the common clock in a second of its own
  friend bool operator==(const RankFacts&, const RankFacts&) = default;
};

struct RankTrace {
  RankFacts facts{};
  std::vector<Communicator> communicators{};
  std::vector<Shape> shapes{};
  std::vector<Call> calls{};  ///< in the order in which they ended
  friend bool operator==(const RankTrace&, const RankTrace&) = default;
};

/// Facts about the run.
struct RunFacts {
  Rank ranks = 1;
  Rank cores = 1;  ///< ranks of a node, the most of any
  std::int64_t clock_error_ns = 0;
  std::string program{};
  std::string mpi{};      ///< "Open MPI v4.1.4"
  std::string machine{};  ///< a machine file: the numbers by which `auto` decided
  friend bool operator==(const RunFacts&, const RunFacts&) = default;
};

struct Trace {
  RunFacts facts{};
  std::vector<RankTrace> ranks{};

  [[nodiscard]] std::int64_t calls() const {  ///< of all ranks
    std::int64_t sum = 0;
    for (const RankTrace& rank : ranks) sum += static_cast<std::int64_t>(rank.calls.size());
    return sum;
  }
};

/// Reads a file. Throws Error(parse) with one sentence that begins with `source`: no such file, another version, cut
/// off, damaged. Memory is bounded by the length of the text.
[[nodiscard]] Trace read(std::string_view bytes, const std::string& source);

/// True if a text begins as such files do, of whatever version.
[[nodiscard]] inline bool is_call_trace(std::string_view bytes) { return bytes.starts_with(file_magic); }

/// Receives parts of a text.
using Sink = std::function<void(std::string_view part)>;

/// The calls of one rank while it runs. Not thread-safe.
class RankWriter {
 public:
  /// Beyond `most_bytes` calls go to an unnamed file in `directory`, or else in that for temporary files.
  explicit RankWriter(std::string directory = {}, std::size_t most_bytes = std::size_t{4} << 20U);

  /// Each returns the index of what was added. `members` are in the order of ranks.
  std::uint32_t add_communicator(std::span<const Rank> members, Rank ranks_of_world);
  std::uint32_t add_foreign_communicator();
  std::uint32_t add_shape(const Shape& shape);
  /// Times as in Call. A call for which there is no place is counted as dropped.
  void add_call(const Call& call);

  [[nodiscard]] std::int64_t dropped() const { return dropped_; }
  [[nodiscard]] std::size_t bytes() const { return spilled_bytes_ + buffer_.size(); }
  /// Writes the rank's part of the file. `facts.dropped` is set here.
  void write(RankFacts facts, const Sink& sink) const;

 private:
  /// Moves the buffer to the file when it is long. False: there is no place.
  [[nodiscard]] bool make_room();
  [[nodiscard]] std::uint32_t add(const Communicator& communicator);

  std::string directory_;
  std::size_t most_bytes_;
  std::string buffer_;
  FileDescriptor spilled_;
  std::size_t spilled_bytes_ = 0;
  bool full_ = false;
  std::int64_t last_end_ns_ = 0;
  std::int64_t dropped_ = 0;
  std::uint32_t communicators_ = 0;
  std::uint32_t shapes_ = 0;
  std::map<std::uint64_t, std::uint32_t> instances_;  ///< communicators of the same members, by their hash
};

/// Writes the file: its head, then the parts of all ranks in order, and its end.
class FileWriter {
 public:
  FileWriter(const RunFacts& facts, Sink sink);
  void part(std::string_view text);
  void finish();

 private:
  Sink sink_;
  std::uint64_t checksum_;
};

}  // namespace circoll::trace
