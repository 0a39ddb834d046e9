#include "global_clock.hpp"

namespace circoll::bench {

GlobalClock::GlobalClock(MPI_Comm comm) : comm_(comm) {
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
  synchronise();
}

void GlobalClock::synchronise() {
  if constexpr (simulated) return;  // there is one clock only
  double half = 0;
  for (int other = 1; other < size_; ++other) {
    // One at a time: another's messages would delay these.
    if (rank_ == 0) {
      for (int i = 0; i < round_trips; ++i) {
        PMPI_Recv(nullptr, 0, MPI_BYTE, other, tag, comm_, MPI_STATUS_IGNORE);
        const double now = PMPI_Wtime();
        PMPI_Send(&now, 1, MPI_DOUBLE, other, tag, comm_);
      }
      continue;
    }
    if (rank_ != other) continue;
    double shortest = 0;
    for (int i = 0; i < round_trips; ++i) {
      const double sent = PMPI_Wtime();
      double reference = 0;
      PMPI_Send(nullptr, 0, MPI_BYTE, 0, tag, comm_);
      PMPI_Recv(&reference, 1, MPI_DOUBLE, 0, tag, comm_, MPI_STATUS_IGNORE);
      const double received = PMPI_Wtime();
      if (i > 0 && received - sent >= shortest) continue;
      shortest = received - sent;
      measured_at_ = (sent + received) / 2;
      offset_ = reference - measured_at_;
    }
    half = shortest / 2;
  }
  PMPI_Reduce(&half, &error_, 1, MPI_DOUBLE, MPI_MAX, 0, comm_);
  if (rank_ == 0) return;
  if (!measured_) {
    first_offset_ = offset_;
    first_at_ = measured_at_;
    measured_ = true;
  } else if (measured_at_ - first_at_ >= least_distance) {
    drift_ = (offset_ - first_offset_) / (measured_at_ - first_at_);
  }
}

}  // namespace circoll::bench
