// One clock for all ranks.
#pragma once

#include <mpi.h>

namespace circoll::bench {

#ifdef CIRCOLL_SIMULATED
inline constexpr bool simulated = true;  ///< all ranks are in one process, whose time is computed
#else
inline constexpr bool simulated = false;
#endif

/// MPI_Wtime of rank 0, as every rank knows it. The difference of two clocks is taken from the quickest of some round
/// trips of a message, half of which is the largest error; their drift is from two such measurements. Collective where
/// it says so.
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

}  // namespace circoll::bench
