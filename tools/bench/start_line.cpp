// The clock of all ranks, and starts by it or by a barrier.
#include "start_line.hpp"

#include <sched.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "exec/mpi/comm/placement.hpp"

#ifdef CIRCOLL_SIMULATED
#include <smpi/smpi_helpers_internal.h>
#endif

namespace circoll::bench {
namespace {

/// Clocks drift by some microseconds per second: synchronised again so often.
constexpr double synchronisation_interval = 1.0;
/// A rank that starts later than this was not there in time, or was interrupted.
constexpr double tolerance = 2e-6;
constexpr int trials = 40;
constexpr double least_notice = 5e-6, most_notice = 20e-3;

/// True if a node has more ranks than processors, as the executor sees it. Collective; the same on all ranks.
bool is_crowded(MPI_Comm comm) {
  int rank = 0, size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  std::vector<mpi::RankLocation> ranks;
  return mpi::gather_locations(comm, rank, size, &ranks) == MPI_SUCCESS && mpi::placement_from(ranks).crowded;
}

/// A part of that time, at most.
void pass_time([[maybe_unused]] double seconds, [[maybe_unused]] bool crowded) {
#ifdef CIRCOLL_SIMULATED
  const timespec rest{.tv_sec = 0, .tv_nsec = static_cast<long>(seconds * 1e9) + 1};
  smpi_nanosleep(&rest, nullptr);
#else
  if (crowded) sched_yield();
#endif
}

}  // namespace

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

StartLine::StartLine(MPI_Comm comm, Sync sync) : comm_(comm) {
  PMPI_Comm_rank(comm, &rank_);
  if (sync == Sync::barrier) return;
  crowded_ = !simulated && is_crowded(comm);
  if (sync == Sync::automatic && crowded_) return;
  clock_ = std::make_unique<GlobalClock>(comm);
  next_synchronisation_ = clock_->now() + synchronisation_interval;
  if (sync == Sync::automatic && !works()) clock_.reset();
}

/// Other programs on the processors may keep ranks from the line as well.
bool StartLine::works() {
  int valid = 0;
  for (int i = 0; i < trials; ++i) valid += time([] {}).valid ? 1 : 0;
  return 2 * valid >= trials;
}

double StartLine::wait_for_start(const std::function<void()>& arm, double delay_s) {
  if (clock_ == nullptr) {
    PMPI_Barrier(comm_);
    if (arm) arm();
    return PMPI_Wtime();
  }
  double announced[2] = {0, 0};  // the start; whether the clock is to be synchronised first
  if (rank_ == 0) announced[1] = clock_->now() > next_synchronisation_ ? 1 : 0;
  if (rank_ == 0) announced[0] = clock_->now() + notice_;
  PMPI_Bcast(announced, 2, MPI_DOUBLE, 0, comm_);
  if (announced[1] != 0) {
    clock_->synchronise();
    next_synchronisation_ = clock_->now() + synchronisation_interval;
    return wait_for_start(arm, delay_s);
  }
  if (arm) arm();
  const double begin = announced[0] + delay_s;
  double now = clock_->now();
  while (now < begin) {
    pass_time(begin - now, crowded_);
    now = clock_->now();
  }
  late_ = now > begin + tolerance;
  return announced[0];
}

Repetition StartLine::finish(double own, double delay_s, bool late) {
  double mine[3] = {own, delay_s, late ? 1.0 : 0.0}, most[3] = {0, 0, 0};
  PMPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, comm_);
  const Repetition repetition{.seconds = most[0] - most[1], .valid = most[2] == 0};
  if (clock_ != nullptr) adapt(repetition.valid);
  return repetition;
}

/// Sets as little notice as lets nearly all ranks come in time. An announcement takes as long as a broadcast does here.
void StartLine::adapt(bool valid) { notice_ = std::clamp(notice_ * (valid ? 0.99 : 1.5), least_notice, most_notice); }

std::string to_string(Sync sync) {
  switch (sync) {
    case Sync::clock:
      return "clock";
    case Sync::barrier:
      return "barrier";
    case Sync::automatic:
      break;
  }
  return "auto";
}

}  // namespace circoll::bench
