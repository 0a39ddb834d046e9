// Runs of one program natively and with Circoll, in turns, and their comparison.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "measured/program_report.hpp"

namespace circoll::cli {

struct PairedRuns {
  std::vector<std::string> program{};
  std::string mpi = "auto";
  long ranks = 2;
  int runs = 3;             ///< of each kind
  std::string launcher{};   ///< "srun -n {np}"; empty: the one of the program's MPI
  std::string directory{};  ///< of the reports; empty: one for this program and time
  double limit_s = 86400;   ///< of a run
  /// Profiles. If they are named, both kinds run with Circoll, the one by the first and the other by the second.
  std::string profile_without{}, profile_with{};
  bool oversubscribe = false;  ///< there are more ranks than processors
  bool show_output = false;    ///< of the program, on standard error
};

struct RunReports {
  std::vector<ProgramReport> without{}, with{};
};

/// Starts the program 2 * runs times, in the order native, Circoll, Circoll, native and so on. A machine that gets
/// slower or faster meanwhile favours neither. Tells on standard error what it does. Both kinds run under the
/// drop-in, which measures; the native ones have CIRCOLL_POLICY=native. Throws Error if a run fails or reports nothing.
[[nodiscard]] RunReports run_in_turns(const PairedRuns& options);

/// True if this process may start ranks, because no launcher has started it as a rank. Otherwise the first rank throws
/// Error, and on the other ranks the result is false: one message is enough. `command` is the command's name.
[[nodiscard]] bool may_start_ranks(const std::string& command);

/// "circoll-compare/cg-20261128-101500", where nothing is yet.
[[nodiscard]] std::string new_report_directory(const std::vector<std::string>& program);

/// The options of runs, of a command that has them.
void add_paired_runs(CLI::App& command, PairedRuns& options);

/// A comparison for people, and for programs.
[[nodiscard]] std::string comparison_text(const RunComparison& comparison);
[[nodiscard]] std::string comparison_json(const RunComparison& comparison);

}  // namespace circoll::cli
