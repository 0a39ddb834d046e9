// Two ranks that time what they do together, and the sizes that are timed.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "circoll/mpi.hpp"
#include "facts/median.hpp"

namespace circoll::bench {

inline constexpr Count largest_bytes = Count{4} << 20;
inline constexpr double seconds_per_sample = 0.1;
inline constexpr int least_batches = 5;
inline constexpr int most_batches = 500;

inline void must(int rc) {
  if (rc != MPI_SUCCESS) throw MpiError(rc);
}

inline std::vector<Count> sizes() {
  std::vector<Count> all{1, 8, 64, 256};
  for (Count bytes = 1024; bytes <= largest_bytes; bytes *= 2) all.push_back(bytes);
  return all;
}

/// This rank and a peer, which makes the same calls at the same time.
class TimedPair {
 public:
  TimedPair(int rank, int peer) : first_(rank < peer), peer_(peer) {}

  /// Median seconds of `repeat` over batches; the lower rank says how many.
  template <typename Repeat>
  [[nodiscard]] double time(Repeat&& repeat) const {
    repeat();  // connections, pages
    const double once = batch_seconds(repeat, 4);
    // Repetitions between two looks at the clock, and how often it is looked at.
    std::array<int, 2> plan{std::clamp(static_cast<int>(least_batch_seconds / once), 4, 100), 0};
    plan[1] = static_cast<int>(
        std::clamp(seconds_per_sample / (once * plan[0]), double{least_batches}, double{most_batches}));
    if (first_) {
      must(PMPI_Send(plan.data(), 2, MPI_INT, peer_, tag, MPI_COMM_WORLD));
    } else {
      must(PMPI_Recv(plan.data(), 2, MPI_INT, peer_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    std::vector<double> seconds;
    seconds.reserve(static_cast<std::size_t>(plan[1]));
    for (int i = 0; i < plan[1]; ++i) seconds.push_back(batch_seconds(repeat, plan[0]));
    return median(std::move(seconds));
  }

  [[nodiscard]] bool first() const { return first_; }
  [[nodiscard]] int peer() const { return peer_; }

 private:
  static constexpr double least_batch_seconds = 10e-6;
  static constexpr int tag = 1;

  template <typename Repeat>
  static double batch_seconds(Repeat&& repeat, int repetitions) {
    const double begin = PMPI_Wtime();
    for (int i = 0; i < repetitions; ++i) repeat();
    return std::max(PMPI_Wtime() - begin, 1e-9) / repetitions;
  }

  bool first_;
  int peer_;
};

}  // namespace circoll::bench
