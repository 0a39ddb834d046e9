// Lets all ranks begin a repetition at the same time, by one clock, and says how long it took.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>

namespace circoll::bench {

#ifdef CIRCOLL_SIMULATED
inline constexpr bool simulated = true;  ///< all ranks are in one process, whose time is computed
#else
inline constexpr bool simulated = false;
#endif

/// MPI_Wtime of rank 0, as every rank knows it. The difference of two clocks comes from the quickest of some round
/// trips of a message, half of which is the largest error. Their drift comes from two such measurements. Functions are
/// collective where they say so.
class GlobalClock {
 public:
  /// Collective.
  explicit GlobalClock(MPI_Comm comm);
  /// Measures again. Collective. To be done from time to time: clocks drift.
  void synchronise();

  /// Seconds.
  [[nodiscard]] double now() const { return global(PMPI_Wtime()); }
  [[nodiscard]] double global(double local) const { return local + offset_ + drift_ * (local - measured_at_); }
  /// Half of the round trip that the last measurement took, the largest of all ranks; on rank 0 only.
  [[nodiscard]] double error() const { return error_; }

 private:
  static constexpr int round_trips = 50;
  static constexpr int tag = 1;
  /// Two measurements give a drift if they are so far apart, in seconds.
  static constexpr double least_distance = 0.5;

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  double offset_ = 0, drift_ = 0, measured_at_ = 0, error_ = 0;
  double first_offset_ = 0, first_at_ = 0;
  bool measured_ = false;
};

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
  /// around none of the calls that bring the ranks together. They are not timed. This rank begins `delay_s` after the
  /// start, if that is a time on the clock. Then time counts from the last rank's beginning.
  template <typename Run>
  [[nodiscard]] Repetition time(Run&& run, const std::function<void()>& arm = {},
                                const std::function<void()>& disarm = {}, double delay_s = 0) {
    if (clock_ == nullptr) delay_s = 0;
    const double start = wait_for_start(arm, delay_s);
    const bool late = clock_ != nullptr && late_;
    run();
    const double end = clock_ ? clock_->now() : PMPI_Wtime();
    if (disarm) disarm();
    return finish(end - start, delay_s, late);
  }

 private:
  [[nodiscard]] bool works();
  double wait_for_start(const std::function<void()>& arm, double delay_s);
  Repetition finish(double own, double delay_s, bool late);
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
