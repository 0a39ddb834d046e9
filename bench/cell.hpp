// One cell of the benchmark: a collective of one size, by several algorithms in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "options.hpp"
#include "start_line.hpp"

namespace circoll::bench {

/// Measurements of one algorithm. Times are in seconds, one per valid repetition, of the last rank.
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

/// The options of policies that the command line gives.
[[nodiscard]] PolicyOptions policy_options(const Options& options);

/// The algorithms of --algorithm that can serve a collective here; "native" first.
[[nodiscard]] std::vector<std::string> algorithms_for(const Options& options, Collective collective, int size);

/// An irregular call's arrays, of what it sends and of what it receives, are these; others have none. The call
/// refers to them.
void set_counts(mpi::Call& call, const std::vector<Count>& counts, const std::vector<Count>& displs);

/// A runner executes calls by one algorithm.
class Runner {
 public:
  /// Native.
  Runner() = default;
  /// `name` is one of algorithms_for.
  Runner(const Options& options, Collective collective, const std::string& name);
  void operator()(const mpi::Call& call) const { (void)execute(call); }
  /// The same, and says what ran.
  [[nodiscard]] std::string served(const mpi::Call& call) const;

 private:
  /// Throws MpiError.
  mpi::Outcome execute(const mpi::Call& call) const;  // NOLINT(modernize-use-nodiscard): what it does is the point

  const mpi::InternedChoice* choice_ = nullptr;  ///< nullptr: native
};

/// A thing that is timed.
struct Run {
  std::function<void()> call{};
  std::function<void()> before{};  ///< not timed; empty: nothing
};

/// Times the runs, interleaved, into the series of the same indices, as long as the options say. Collective; `seed` is
/// equal on all ranks.
void take_turns(const Options& options, StartLine& line, std::uint64_t seed, const std::vector<Run>& runs,
                std::vector<Series>& series);

/// Measures a cell on MPI_COMM_WORLD. All ranks call it; the result is complete on rank 0.
[[nodiscard]] Cell measure(const Options& options, StartLine& line, Collective collective, Count bytes);

}  // namespace circoll::bench
