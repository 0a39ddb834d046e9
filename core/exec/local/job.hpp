// One collective on all ranks at once, with its data and a watch on its buffers. It serves tests, tables and
// `circoll execute`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "circoll/local.hpp"
#include "circoll/schedule.hpp"

namespace circoll::local {

/// The way in which execute_all drives the ranks.
enum class Mode { threads, single_thread };

/// One collective on all ranks, from inputs to outputs.
struct Job {
  Collective collective = Collective::barrier;
  Rank size = 1;
  Rank root = 0;
  /// Elements of each user block, p entries, or one entry for all. A block is the vector (allreduce, reduce, bcast,
  /// scan, exscan), or that of each rank. For alltoallv p * p entries are possible, too: [s * p + d] goes from s to d.
  std::vector<Count> counts{0};
  Type type = Type::byte;
  Count record_bytes = 0;
  Operator op{};
  bool in_place = false;  ///< where the collective has it; elsewhere ignored
  /// Writes a rank's contribution; called in the order of ranks for those that have one.
  std::function<void(Rank rank, std::span<std::byte> input)> fill;

  [[nodiscard]] Count element_bytes() const;
  [[nodiscard]] Count count_of(Rank rank) const;
  [[nodiscard]] Count count_of(Rank source, Rank destination) const;  ///< alltoall(v)
  /// Elements of all user blocks: of the vector for allreduce, reduce, bcast, scan, exscan.
  [[nodiscard]] Count total() const;
  [[nodiscard]] Count input_elements(Rank rank) const;   ///< of the rank's contribution
  [[nodiscard]] Count output_elements(Rank rank) const;  ///< of the rank's result
};

/// The results of a job. All elements packed, in the order of user blocks.
struct JobResult {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<std::byte>> outputs;
  double seconds = 0;  ///< of the execution alone, threads started and plans built included
  /// Empty, or how the execution left its bounds: a byte around a buffer, or of a send buffer, was written.
  std::string violation;
};

/// Executes a job. Throws as Comm::execute does.
[[nodiscard]] JobResult execute_all(const Job& job, const Choice& choice = {}, Mode mode = Mode::single_thread,
                                    const Options& options = {});

/// Executes schedules that are given, of ranks 0 .. p-1 of the job's collective. They must be proven: others may wait
/// forever. The job is in place if they are. Throws Error(invalid_argument) if they are of another call.
[[nodiscard]] JobResult execute_schedules(const Job& job, std::span<const Schedule> ranks,
                                          Mode mode = Mode::single_thread);

}  // namespace circoll::local
