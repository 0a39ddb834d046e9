// Runs of one program natively and with Circoll, in turns, and their comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measured/program_report.hpp"
#include "options/cli11.hpp"

namespace circoll::cli {

struct PairedRuns {
  std::vector<std::string> program{};
  std::string mpi = "auto";
  long ranks = 2;
  int runs = 0;                       ///< pairs; 0: until it is decided
  std::string launcher{};             ///< "srun -n {np}"; empty: the one of the program's MPI
  std::string directory{};            ///< of the reports; empty: one for this program and time
  double limit_s = 60;                ///< of all runs, unless their number is given
  double run_limit_s = 86400;         ///< of a run
  double same_within = 0.03;          ///< as in JudgeOptions
  std::optional<std::uint64_t> seed;  ///< of the order; nothing: any
  /// Profiles. If they are named, both kinds run with Circoll, the one by the first and the other by the second.
  std::string profile_without{}, profile_with{};
  [[nodiscard]] bool compares_profiles() const { return !profile_with.empty(); }
  bool oversubscribe = false;  ///< there are more ranks than processors
  bool show_output = false;    ///< of the program, on standard error
};

struct RunReports {
  std::vector<ProgramReport> without{}, with{};
  RunsMade made{};
};

/// Starts the program natively and with Circoll, in pairs, until a judge has decided or the time is up.
/// A coin decides which one of a pair is first. A run before them warms up, and its trace tells waiting apart. Tells on
/// standard error what it does. Both kinds run under the drop-in, which measures. The native ones have
/// CIRCOLL_POLICY=native. Throws Error if a run fails or reports nothing.
[[nodiscard]] RunReports run_in_turns(const PairedRuns& options);

/// Starts the program once under the drop-in, with words for env(1): "-u", "NAME" and "NAME=VALUE". Throws Error with
/// `name` if the run fails.
void run_recorded(const PairedRuns& options, const std::string& name, const std::vector<std::string>& variables);

/// Throws Error if a run had another number of ranks. The launcher of another MPI starts programs of one rank each.
void require_ranks(const PairedRuns& options, std::int64_t ranks);

/// True if this process may start ranks, because no launcher has started it as a rank. Otherwise the first rank throws
/// Error, and on the other ranks the result is false: one message is enough. `command` is the command's name.
[[nodiscard]] bool may_start_ranks(const std::string& command);

/// "circoll-compare/cg-20261128-101500", where nothing is yet.
[[nodiscard]] std::string new_report_directory(const std::vector<std::string>& program);

/// The options of runs, of a command that has them.
void add_paired_runs(CLI::App& command, PairedRuns& options);

/// A comparison for people, in 80 columns. With `plot` each run is a dot.
[[nodiscard]] std::string comparison_text(const RunComparison& all, bool plot = false);
/// The same for programs.
[[nodiscard]] std::string comparison_json(const RunComparison& comparison);

}  // namespace circoll::cli
