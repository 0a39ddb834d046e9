// One cell of the benchmark: a collective of one size, or both sides of guidelines, by several algorithms in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "circoll/select.hpp"
#include "exec/mpi/serve/perform.hpp"
#include "native/algorithms.hpp"
#include "options.hpp"
#include "start_line.hpp"

namespace circoll::bench {

/// Measurements of one algorithm. Times are in seconds, one per valid repetition, of the last rank.
struct Series {
  std::string algorithm;
  std::string served_by{};  ///< what ran: differs from `algorithm` for auto
  std::vector<double> seconds{};
  int warm_up = 0;            ///< repetitions before the first that counts
  int invalid = 0;            ///< repetitions in which some rank started late
  std::string correct = "-";  ///< "yes", "NO", or "-" if not checked
  std::string refused{};  ///< the words of the MPI library, if it does not make this call by this algorithm of its own
};

struct Cell {
  Collective collective = Collective::barrier;
  Count bytes = 0;
  std::vector<Series> series{};
  std::vector<Series> refused{};  ///< of which nothing was measured
};

/// The options of policies that the command line gives.
[[nodiscard]] PolicyOptions policy_options(const Options& options);

/// An irregular call's arrays, of what it sends and of what it receives, are these; others have none. The call
/// refers to them.
void set_counts(mpi::Call& call, const std::vector<Count>& counts, const std::vector<Count>& displs);

/// A runner executes calls by one algorithm.
class Runner {
 public:
  /// Native.
  Runner() = default;
  /// `name` is one of algorithms_for or library_algorithms_for. Collective.
  Runner(const Options& options, Collective collective, const std::string& name);
  /// True if it is by an algorithm that the MPI library is made to use.
  [[nodiscard]] bool is_forced() const { return forced_ != nullptr; }
  /// The communicator of its calls.
  [[nodiscard]] MPI_Comm comm() const { return forced_ == nullptr ? MPI_COMM_WORLD : forced_->comm(); }
  /// Stand around calls, once around several.
  void arm() const {
    if (forced_ != nullptr) forced_->arm();
  }
  void disarm() const {
    if (forced_ != nullptr) forced_->disarm();
  }
  void operator()(const mpi::Call& call) const { (void)execute(call); }
  /// The same, armed, and says what ran.
  [[nodiscard]] std::string served(const mpi::Call& call) const;

 private:
  /// Throws MpiError.
  mpi::CallResult execute(const mpi::Call& call) const;  // NOLINT(modernize-use-nodiscard): what it does is the point

  const mpi::InternedChoice* choice_ = nullptr;  ///< nullptr: native
  const native::Forced* forced_ = nullptr;       ///< by an algorithm that the library is made to use
  std::string name_ = "native";
};

/// A thing that is timed.
struct Run {
  std::function<void()> call{};
  std::function<void()> before{};  ///< not timed; empty: nothing
  std::function<void()> arm{};     ///< likewise; see StartLine::time
  std::function<void()> disarm{};
};

/// Fills `series` with what serves a first call, which `served` makes; collective. False, and `refused` is filled, if
/// the MPI library has refused it on some rank, as it may for algorithms of its own. Others' errors are thrown.
[[nodiscard]] bool first_call(Series& series, const std::function<std::string()>& served);

/// Times the runs, interleaved, into the series of the same indices, as long as the options say. Collective; `seed` is
/// equal on all ranks.
void take_turns(const Options& options, StartLine& line, std::uint64_t seed, const std::vector<Run>& runs,
                std::vector<Series>& series);

/// True if an algorithm has the result of the native one. Collective.
[[nodiscard]] bool gives_native_result(const Options& options, Collective collective, Count bytes,
                                       const std::string& name);

/// Measures a cell on MPI_COMM_WORLD. All ranks call it; the result is complete on rank 0.
[[nodiscard]] Cell measure(const Options& options, StartLine& line, Collective collective, Count bytes);

/// One size: m bytes of the whole vector, and a series for every side and algorithm.
struct GuidelineCell {
  Count bytes = 0;
  std::vector<std::string> sides{};  ///< to_string(GuidelineSide), one per series
  std::vector<Series> series{};
};

/// Measures the sides of the guidelines about the collectives of the options. All ranks call it; the result is complete
/// on rank 0.
[[nodiscard]] GuidelineCell measure_guidelines(const Options& options, StartLine& line, Count bytes);

/// The sides that are one collective of the whole vector, as the cells that circoll-bench has without --guidelines.
[[nodiscard]] std::vector<Cell> cells_of(const GuidelineCell& cell, int size);

}  // namespace circoll::bench
