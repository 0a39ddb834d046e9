// The report of a program's run (docs/user/reports.md), read again, and two runs compared (docs/user/start.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "circoll/types.hpp"
#include "facts/called_collective.hpp"
#include "facts/judge.hpp"
#include "measured/waiting.hpp"

namespace circoll {

/// Calls of one row whose bytes are in one class.
struct ReportedSize {
  Count bytes_from = 0;     ///< the least size of the class, which ends below twice that
  std::int64_t calls = 0;   ///< over all ranks, as `bytes`
  Count bytes = 0;          ///< of the vectors of all calls, over all ranks
  double mean_s = 0;        ///< the calls' time, mean over the ranks of the program
  double least_s = 0;       ///< of the shortest call; 0: unknown, as in older reports
  std::string algorithm{};  ///< with its parameters
};

/// A row of a report. Its calls are of one collective, on communicators of one size, by one algorithm.
struct ReportedRow {
  Rank comm_size = 0;                 ///< 0: unknown
  std::string mode{};                 ///< "blocking", "nonblocking", "persistent"
  CalledCollective collective{};      ///< the one that was called
  std::string served_by{};            ///< an algorithm's name with parameters, or "native"
  std::int64_t calls = 0;             ///< over all ranks
  Count bytes = 0;                    ///< of the vectors of all calls, over all ranks
  double mean_s = 0;                  ///< from call to completion; mean over the ranks of the program
  double mean_inside_s = 0;           ///< of that inside the entry point
  std::string why_native{};           ///< the reason of native calls; else empty
  std::vector<ReportedSize> sizes{};  ///< in the file's order; older reports have none

  [[nodiscard]] bool native() const { return served_by == "native"; }  ///< true if the MPI library served the calls
};

/// The contents of a file that CIRCOLL_REPORT=FILE.json wrote.
struct ProgramReport {
  std::string source{};               ///< its file
  std::string program{};              ///< the program's name; empty: unknown, as in older reports
  std::string mpi{};                  ///< the library's name and version
  int ranks = 1;                      ///< of MPI_COMM_WORLD
  std::int64_t calls = 0;             ///< of all rows
  std::int64_t native_calls = 0;      ///< of these, served by the MPI library
  std::optional<double> program_s{};  ///< from MPI_Init to MPI_Finalize, mean over the ranks; older reports have none
  std::optional<double> others{};     ///< share of the processors that others took; only of runs of `circoll compare`
  std::optional<double> pressure{};   ///< share of the time in which a process waited for a processor
  std::vector<ReportedRow> rows{};    ///< in the file's order

  /// The time inside of collectives, mean over the ranks.
  [[nodiscard]] double collectives_s() const;
};

/// Reads a report. Keys that it does not know are left alone. Of reports that were written before there were means the
/// times are those of the slowest rank. Throws Error(parse) naming the line.
[[nodiscard]] ProgramReport report_from_json(std::string_view json, const std::string& source);

/// A time that several runs have measured.
struct RunTimes {
  double median_s = 0;  ///< seconds
  double least_s = 0;   ///< of the fastest run
  double most_s = 0;    ///< of the slowest run
  int runs = 0;         ///< 0: nothing was measured
};

/// Calls of one kind, in runs without and with Circoll.
struct ComparedCalls {
  CalledCollective collective{};  ///< the one that was called
  Rank comm_size = 0;             ///< 0: unknown
  std::string mode{};             ///< as ReportedRow::mode
  std::int64_t calls = 0;         ///< in a run without
  std::int64_t calls_with = 0;    ///< in a run with
  std::int64_t native_calls = 0;  ///< of these, native
  RunTimes without{};             ///< inside the entry points
  RunTimes with{};                ///< inside the entry points, in a run with
  Judgement verdict{};            ///< from without to with

  /// Time without over time with; nothing if either is 0.
  [[nodiscard]] std::optional<double> speedup() const;
  /// Positive if it is less with Circoll. Only calls that both have can gain.
  [[nodiscard]] double gained_s() const { return without.median_s - with.median_s; }
};

/// Two kinds of runs of one program. All times were measured.
struct RunComparison {
  RunTimes program_without{}, program_with{};          ///< `runs` is 0 where a report has no such time
  RunTimes collectives_without{}, collectives_with{};  ///< inside the entry points of collectives, mean over the ranks
  Judgement program{};                                 ///< of the program's time
  Judgement collectives{};                             ///< of the time in collectives
  std::vector<ComparedCalls> calls{};                  ///< those that took most without Circoll first
  std::vector<RunPair> pairs{};                        ///< program's times, or those in collectives if there are none
  std::optional<Waiting> waiting{};                    ///< in collectives of a run without Circoll
  std::vector<std::string> remarks{};                  ///< sentences about what limits the comparison
  std::string advice{};                                ///< a sentence that says what to do next

  [[nodiscard]] std::optional<double> share_without() const;
  [[nodiscard]] std::optional<double> share_with() const;  ///< the same with Circoll
  /// The one that counts: of the program's time, or of that in collectives if reports do not have it.
  [[nodiscard]] const Judgement& verdict() const { return program.change == Change::missing ? collectives : program; }
  /// True if the calls took below 1 % of the time in collectives. A table leaves them out.
  [[nodiscard]] bool is_small(const ComparedCalls& one) const;
};

/// The pair of one run of each kind, by the program's time. If a report lacks it, by that in collectives.
/// Nobody knows how busy the machine was in runs that `circoll compare` has not made. It counts as busy.
[[nodiscard]] RunPair pair_of(const ProgramReport& without, const ProgramReport& with);

/// Facts about how the runs were made, if `circoll compare` has made them.
struct RunsMade {
  std::optional<Judgement> verdict{};  ///< of a judge that looked while the runs were made
  std::optional<Waiting> waiting{};
  double pair_s = 0;   ///< the time that a pair takes
  double limit_s = 0;  ///< of all runs; 0: their number was given
};

/// Compares runs. Run k without and run k with Circoll are a pair. If one kind has more runs, its last ones are only
/// in the median. `same_within` is that of JudgeOptions. Throws Error(invalid_argument) if there are no runs on a
/// side, or runs have different numbers of ranks.
[[nodiscard]] RunComparison compare_runs(const std::vector<ProgramReport>& without,
                                         const std::vector<ProgramReport>& with, double same_within = 0.03,
                                         const RunsMade& made = {});

}  // namespace circoll
