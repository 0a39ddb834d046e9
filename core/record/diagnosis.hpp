// The diagnosis of a hanging job: compares the records of its ranks, and finds the one that keeps others waiting.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "record/process.hpp"
#include "record/reader.hpp"

namespace circoll::record {

/// One rank as far as it can be seen.
struct SeenRank {
  ReadRecord record{};
  ProcessState state = ProcessState::unknown;
  bool elsewhere = false;            ///< on another node, whose monotonic clock cannot be compared with this one's
  bool burns = false;                ///< it has used the processor between two looks
  std::vector<std::string> stack{};  ///< from the innermost function outwards: "MPI_Recv+0x1f (libmpi.so.40)"

  /// The function of MPI that the stack shows; empty if there is none, or no stack.
  [[nodiscard]] std::string mpi_function() const;
};

/// The ranks of one MPI_COMM_WORLD of which there are records, in ascending order.
struct SeenJob {
  std::uint64_t id = 0;
  int size = 1;
  std::vector<SeenRank> ranks{};
  std::int64_t now_ns = 0;    ///< coarse_ns(), for calls of this kernel; 0: times are not known
  std::int64_t since_ns = 0;  ///< of the first look: calls that began later have not waited; 0: not known

  [[nodiscard]] const SeenRank* rank(Rank world) const;
  [[nodiscard]] bool lives() const;  ///< some process is still there
};

/// The reasons for which ranks wait in vain.
enum class Reason : std::uint8_t {
  none,        ///< nobody waits in a collective call
  collective,  ///< ranks make different calls at the same place
  root,        ///< ... or give different roots, and so on
  count,
  type,
  op,
  communicator,    ///< ranks call on communicators in different orders
  killed,          ///< the process is gone
  stopped,         ///< a signal has stopped it
  point_to_point,  ///< it is in a function of MPI that is no collective
  computing,       ///< it uses the processor outside of MPI
  absent,          ///< it has not come, and is somewhere else
  finalized,       ///< it is in MPI_Finalize, or behind it
  unknown,         ///< there is no record of the rank here
  inside,          ///< all ranks are in the call, and alive
};
/// "none", "collective", "root", ... as JSON has them.
[[nodiscard]] std::string_view to_string(Reason reason);

struct Diagnosis {
  Reason reason = Reason::none;
  std::vector<Rank> ranks{};        ///< of MPI_COMM_WORLD, for which the others wait; ascending
  std::string sentence{};           ///< the first line
  std::vector<std::string> more{};  ///< further lines
};

/// Judges a job. Ranks of which there is no record count as unknown.
[[nodiscard]] Diagnosis judge(const SeenJob& job);

/// "MPI_Bcast of 400 bytes of int32, root 0, call 5 on MPI_COMM_WORLD".
[[nodiscard]] std::string text_of(const ReadCall& call, const ReadRecord& record);
/// The verdict, a table of the ranks, and the last calls of those for which the others wait. Lines are at most 100
/// columns wide, unless `wide`.
[[nodiscard]] std::string text_of(const SeenJob& job, const Diagnosis& verdict, bool wide = false);

/// Settings of look().
struct LookOptions {
  bool stacks = true;  ///< asks living processes for their stacks by a signal
  int pause_ms = 100;  ///< between the two looks that tell whether a process uses the processor
};
/// The jobs of which a directory has records, the newest one first. Records that cannot be read are `complaints`.
/// Throws std::runtime_error if the directory cannot be read.
[[nodiscard]] std::vector<SeenJob> jobs_in(const std::string& directory, std::vector<std::string>* complaints);
/// Looks at the job's processes, as far as they are on this node.
void look(SeenJob& job, const LookOptions& options);

}  // namespace circoll::record
