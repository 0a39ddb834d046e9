// Runs of a program with rules before they are written. A comparison of the same program decides.
#include <algorithm>
#include <filesystem>

#include "commands.hpp"
#include "compare/paired_runs.hpp"
#include "for_report.hpp"

namespace circoll::cli {

RunComparison try_rules(const TuneForOptions& options, const std::string& before, const std::string& after) {
  namespace fs = std::filesystem;
  PairedRuns runs;
  runs.program = options.program;
  runs.mpi = options.mpi;
  runs.ranks = options.ranks;
  runs.launcher = options.launcher;
  runs.directory = new_report_directory(options.program);
  runs.same_within = options.tune.margin;
  runs.limit_s = std::min(runs.limit_s, options.campaign.limit_s);
  runs.oversubscribe = options.oversubscribe && options.launcher.empty();
  fs::create_directories(runs.directory);
  runs.profile_without = fs::absolute(runs.directory + "/profile.before.json").string();
  runs.profile_with = fs::absolute(runs.directory + "/profile.rules.json").string();
  write_file(runs.profile_without, before);
  write_file(runs.profile_with, after);
  const RunReports reports = run_in_turns(runs);
  return compare_runs(reports.without, reports.with, runs.same_within, reports.made);
}

}  // namespace circoll::cli
