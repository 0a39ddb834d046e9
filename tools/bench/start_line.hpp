// Lets all ranks begin a repetition at the same time, and says how long it took.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>

#include "global_clock.hpp"

namespace circoll::bench {

enum class Sync {
  automatic,  ///< clock, or barrier where a node has more ranks than processors, or most starts are late
  clock,      ///< at a time on the synchronised clock (ReproMPI); a repetition is invalid if a rank came late
  barrier,    ///< after a native barrier, which the ranks leave one after another
};

/// Seconds from the start to the end of the last rank; barrier: the longest that a rank was in it.
struct Repetition {
  double seconds = 0;
  bool valid = true;
};

class StartLine {
 public:
  /// Collective.
  StartLine(MPI_Comm comm, Sync sync);

  /// The way that `automatic` has become.
  [[nodiscard]] Sync sync() const { return clock_ ? Sync::clock : Sync::barrier; }
  /// GlobalClock::error(); 0 without one.
  [[nodiscard]] double clock_error() const { return clock_ ? clock_->error() : 0; }

  /// Collective. The result is the same on all ranks. `arm` and `disarm`, if they are given, stand around the run, and
  /// around none of the calls that bring the ranks together; they are not timed.
  template <typename Run>
  [[nodiscard]] Repetition time(Run&& run, const std::function<void()>& arm = {},
                                const std::function<void()>& disarm = {}) {
    const double start = wait_for_start(arm);
    const bool late = clock_ != nullptr && late_;
    run();
    const double end = clock_ ? clock_->now() : PMPI_Wtime();
    if (disarm) disarm();
    return finish(end - start, late);
  }

 private:
  [[nodiscard]] bool works();
  double wait_for_start(const std::function<void()>& arm);
  Repetition finish(double own, bool late);
  void adapt(bool valid);

  MPI_Comm comm_;
  int rank_ = 0;
  std::unique_ptr<GlobalClock> clock_{};
  double next_synchronisation_ = 0;
  bool crowded_ = false;
  bool late_ = false;
  /// From its announcement to a start; of rank 0.
  double notice_ = 20e-6;
};

[[nodiscard]] std::string to_string(Sync sync);

}  // namespace circoll::bench
