// The plan of a measurement that takes some milliseconds: which hosts time messages with which, and how long ones. The
// drop-in measures so where a job starts on a network that nobody has measured (exec/mpi/serve/shared_network.hpp).
//
// One rank of each host takes part. In step k host h and host h + 2^k time messages, all pairs at once.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "circoll/types.hpp"

namespace circoll {

/// ceil(log2 hosts)
[[nodiscard]] int probe_steps(Rank hosts);
/// The host with which a host times messages in a step; -1: it rests. In some step every host has one.
[[nodiscard]] Rank probe_partner(Rank host, int step, Rank hosts);
/// The time of a step. All steps together take 12 ms on 16 hosts, and 30 ms on 1000.
[[nodiscard]] double probe_seconds(Rank hosts);

/// The sizes of messages that are timed. The first tells the latency, the others the time per byte.
inline constexpr std::array<Count, 8> probe_bytes{8, 4096, 8192, 16384, 32768, 65536, 131072, 262144};

/// Messages that are sent at once for the overhead of a message.
inline constexpr int probe_burst = 6;
/// At the end hosts exchange messages with all of their partners at once, so many times. The first is not timed.
inline constexpr int probe_rounds = 6;

/// The next messages of a pair. They are one there, one back, and exchanges.
struct Trial {
  std::size_t size = 0;  ///< of probe_bytes
  int exchanges = 1;     ///< the first of them is not timed, since the two hosts do not begin it together
  bool counts = true;    ///< false: it makes the connection only
  bool bursts = false;   ///< at last `probe_burst` messages go there, and one comes back
};

/// The trials of a host that leads its pairs. They are short ones, one of 4 KiB, and the longest that the time allows.
class ProbePlan {
 public:
  explicit ProbePlan(double step_s) : step_s_(step_s) {}

  void begin_step() { *this = ProbePlan(step_s_, size_, size_s_); }
  /// The next trial of the step; nothing: the step is over. `elapsed_s`: of the step.
  [[nodiscard]] std::optional<Trial> next(double elapsed_s);

 private:
  ProbePlan(double step_s, std::size_t size, double size_s) : step_s_(step_s), size_(size), size_s_(size_s) {}

  double step_s_;
  std::size_t size_ = 0;   ///< of the last long trial, in whichever step; 0: there was none
  double size_s_ = 0;      ///< that it took
  int trials_ = 0;         ///< of the step
  std::size_t tried_ = 0;  ///< the size of the step's last trial
  double began_s_ = 0;     ///< when that trial began
};

}  // namespace circoll
