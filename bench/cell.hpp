// One cell of the benchmark: a collective of one size, by several algorithms in turn.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "start_line.hpp"

namespace circoll::bench {

/// What was measured for one algorithm. Times in seconds, one per valid repetition: of the last rank.
struct Series {
  std::string algorithm;
  std::string served_by{};  ///< what ran: differs from `algorithm` for auto
  std::vector<double> seconds{};
  int invalid = 0;            ///< repetitions in which some rank started late
  std::string correct = "-";  ///< "yes", "NO", or "-" if not checked
};

struct Cell {
  Collective collective = Collective::barrier;
  Count bytes = 0;
  std::vector<Series> series{};
};

/// The algorithms of --algorithm that can serve a collective here; "native" first.
[[nodiscard]] std::vector<std::string> algorithms_for(const Options& options, Collective collective, int size);

/// Measures a cell on MPI_COMM_WORLD. All ranks call it; the result is complete on rank 0.
[[nodiscard]] Cell measure(const Options& options, StartLine& line, Collective collective, Count bytes);

}  // namespace circoll::bench
