// The reports of many jobs, added up: which collectives took time, and why calls were native. `circoll report` prints
// it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measured/program_report.hpp"

namespace circoll {

/// The calls of one collective.
struct CollectiveSum {
  CalledCollective collective{};  ///< the one that was called
  int jobs = 0;                   ///< that called it
  std::int64_t calls = 0;         ///< over all ranks of all jobs
  std::int64_t native_calls = 0;  ///< of these, served by the MPI library
  double seconds = 0;             ///< inside the entry points; mean over the ranks of a job
  std::string mostly{};           ///< "native", or the algorithm with most of that time
};

/// The native calls with one reason.
struct ReasonSum {
  std::string reason{};    ///< as the reports give it
  int jobs = 0;            ///< that have such calls
  std::int64_t calls = 0;  ///< over all ranks of all jobs
};

/// The sums of all jobs. Times are means over the ranks of a job, added up over the jobs.
struct ReportSum {
  int jobs = 0;                              ///< a report is one job
  int least_ranks = 0;                       ///< of a job
  int most_ranks = 0;                        ///< of a job
  std::map<std::string, int> mpis{};         ///< jobs of each MPI library
  std::int64_t calls = 0;                    ///< over all ranks of all jobs
  std::int64_t native_calls = 0;             ///< of these, served by the MPI library
  double collectives_s = 0;                  ///< inside the entry points
  double program_s = 0;                      ///< of the jobs whose reports have it
  double program_collectives_s = 0;          ///< of the same jobs, inside the entry points
  std::vector<CollectiveSum> collectives{};  ///< those with most time first
  std::vector<ReasonSum> reasons{};          ///< those with most calls first
};

[[nodiscard]] ReportSum add_up(const std::vector<ProgramReport>& reports);

/// Reads a report, or reports of which each is a line of the file. Throws Error(invalid_argument) if the file cannot be
/// read, and Error(parse) naming file and line.
[[nodiscard]] std::vector<ProgramReport> read_reports(const std::string& path);

}  // namespace circoll
