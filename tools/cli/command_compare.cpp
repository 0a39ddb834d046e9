// circoll compare: what Circoll has changed in a program's time, by what was measured.

#include <CLI/CLI.hpp>
#include <memory>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "compare/paired_runs.hpp"
#include "measured/program_report.hpp"
#include "options/ranges.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> words;  ///< two files, or after -- a program
  std::vector<std::string> without, with;
  bool program = false;
  bool json = false;
  bool plot = false;
  PairedRuns runs;
};

std::vector<ProgramReport> read_reports(const std::vector<std::string>& files) {
  std::vector<ProgramReport> reports;
  reports.reserve(files.size());
  for (const std::string& file : files) reports.push_back(report_from_json(select::read_text_file(file), file));
  return reports;
}

RunReports reports_of(CompareOptions& options) {
  if (!options.without.empty() || !options.with.empty()) {
    if (!options.words.empty() || options.without.empty() || options.with.empty()) {
      throw Error(ErrorCode::invalid_argument, "--without and --with name the reports of both kinds of runs");
    }
    return {.without = read_reports(options.without), .with = read_reports(options.with)};
  }
  if (options.program) {
    if (!may_start_ranks("compare")) throw CLI::Success();
    options.runs.program = options.words;
    return run_in_turns(options.runs);
  }
  if (options.words.size() != 2) {
    throw Error(ErrorCode::invalid_argument,
                "give two reports, WITHOUT.json and WITH.json, or a program: circoll compare --np 4 -- ./program");
  }
  return {.without = read_reports({options.words[0]}), .with = read_reports({options.words[1]})};
}

}  // namespace

void add_paired_runs(CLI::App& command, PairedRuns& options) {
  command.add_option("--np", options.ranks, "Ranks of the program that is run")->check(options::at_least(1));
  command.add_option("--limit", options.limit_s, "Seconds for all runs, which end when it is decided")
      ->check(options::above_zero())
      ->capture_default_str();
  command.add_option("--runs", options.runs, "So many runs of each kind, in place of --limit")
      ->check(options::at_least(1));
  command.add_option("--seed", options.seed,
                     "Repeats an order of the runs, which is random; default: another each time");
  command.add_option("--launcher", options.launcher,
                     "Starts the ranks in place of the mpirun on PATH; {np} stands for their number");
  command.add_flag("--oversubscribe", options.oversubscribe, "Run more ranks than there are processors");
  command.add_option("--reports", options.directory,
                     "The directory of the runs' reports; default: circoll-compare/PROGRAM-TIME");
  command.add_option("--run-limit", options.run_limit_s, "Seconds after which a run has failed")
      ->check(options::above_zero())
      ->capture_default_str();
  command.add_flag("--show-output", options.show_output, "Show what the program prints, on standard error");
}

void add_compare(CLI::App& app, Context& /*context*/) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* const command = app.add_subcommand("compare", "Time a program without and with Circoll");
  command
      ->add_option("what", options->words,
                   "Two reports of CIRCOLL_REPORT=FILE.json, without and with; or after -- a program")
      ->type_name("FILE");
  command->add_option("--without", options->without, "Reports of several runs without Circoll")->delimiter(',');
  command->add_option("--with", options->with, "Reports of several runs with Circoll")->delimiter(',');
  command->add_option("--mpi", options->runs.mpi, "The MPI that the program uses")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  add_paired_runs(*command, options->runs);
  command->add_option("--least-effect", options->runs.same_within, "The least difference that counts, as a share")
      ->check(options::at_least(0))
      ->capture_default_str();
  command->add_flag("--json", options->json, "For programs");
  command->add_flag("--plot", options->plot, "Show each run as a dot");
  command->footer(
      "Examples:\n"
      "  circoll compare native.json circoll.json     # after: CIRCOLL_POLICY=native CIRCOLL_REPORT=native.json\n"
      "                                               #   mpirun -np 4 circoll run -- ./program; and without\n"
      "                                               #   CIRCOLL_POLICY, into circoll.json\n"
      "  circoll compare --np 4 -- ./program its arguments     # runs it in pairs, until it is decided\n"
      "  circoll compare --launcher 'srun -n {np}' --np 64 -- ./program\n"
      "Only measured times are compared; docs/user/start.md.");
  command->callback([options] {
    options->program = !options->words.empty() && !options->words.front().ends_with(".json");
    const RunReports reports = reports_of(*options);
    const RunComparison comparison =
        compare_runs(reports.without, reports.with, options->runs.same_within, reports.made);
    print(options->json ? comparison_json(comparison) : comparison_text(comparison, options->plot));
  });
}

}  // namespace circoll::cli
