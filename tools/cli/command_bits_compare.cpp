// circoll bits-compare runs a program by several algorithms, and says which of its collectives change bits.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "compare/paired_runs.hpp"
#include "facts/text.hpp"
#include "measured/bits_of_runs.hpp"
#include "options/ranges.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;

/// A run of the program: what chooses its algorithms and places its ranks.
struct BitsRunPlan {
  std::string name{};
  std::vector<std::string> variables{};  ///< "NAME=VALUE"
  std::string launcher{};                ///< of another placement; empty: as the others
};

struct BitsCompareOptions {
  PairedRuns run;
  std::vector<std::string> words;         ///< directories of records, or after -- a program
  std::vector<std::string> with, placed;  ///< further runs
  std::vector<std::string> only;          ///< names of runs; empty: all
  bool json = false;
};

/// Algorithms that add in other orders than one another.
std::vector<BitsRunPlan> usual_runs(long ranks) {
  std::vector<BitsRunPlan> runs{
      {.name = "auto"},
      {.name = "again"},
      {.name = "native", .variables = {"CIRCOLL_POLICY=native"}},
      {.name = "linear",
       .variables = {"CIRCOLL_ALLREDUCE=linear", "CIRCOLL_REDUCE=linear", "CIRCOLL_REDUCE_SCATTER_BLOCK=linear",
                     "CIRCOLL_REDUCE_SCATTER=linear", "CIRCOLL_SCAN=linear", "CIRCOLL_EXSCAN=linear"}},
      {.name = "ring",
       .variables = {"CIRCOLL_ALLREDUCE=ring", "CIRCOLL_REDUCE=ring", "CIRCOLL_REDUCE_SCATTER_BLOCK=ring",
                     "CIRCOLL_REDUCE_SCATTER=ring", "CIRCOLL_SCAN=pipeline", "CIRCOLL_EXSCAN=pipeline"}},
      {.name = "tree",
       .variables = {"CIRCOLL_ALLREDUCE=binomial", "CIRCOLL_REDUCE=binomial",
                     "CIRCOLL_REDUCE_SCATTER_BLOCK=circulant_optimal", "CIRCOLL_REDUCE_SCATTER=circulant_optimal",
                     "CIRCOLL_SCAN=recursive_doubling", "CIRCOLL_EXSCAN=recursive_doubling"}},
  };
  // As if the ranks were on two nodes.
  if (ranks > 2) {
    runs.push_back({.name = "two-nodes",
                    .variables = {fmt::format("CIRCOLL_CORES={}", (ranks + 1) / 2), "CIRCOLL_ALLREDUCE=leaders",
                                  "CIRCOLL_REDUCE=leaders"}});
  }
  return runs;
}

/// All runs that are asked for, the first of which the others are compared with.
std::vector<BitsRunPlan> planned_runs(const BitsCompareOptions& options) {
  std::vector<BitsRunPlan> runs = usual_runs(options.run.ranks);
  for (const std::string& text : options.with) {
    BitsRunPlan plan{.name = text};
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (word.find('=') == std::string::npos) misuse(fmt::format("--with: '{}' is no NAME=VALUE", word));
      plan.variables.push_back(word);
    }
    runs.push_back(std::move(plan));
  }
  for (const std::string& launcher : options.placed) runs.push_back({.name = launcher, .launcher = launcher});
  if (options.only.empty()) return runs;
  for (const std::string& name : options.only) {
    if (std::ranges::none_of(runs, [&](const BitsRunPlan& run) { return run.name == name; })) {
      std::vector<std::string> names;
      names.reserve(runs.size());
      for (const BitsRunPlan& run : runs) names.push_back(run.name);
      misuse("--runs: " + unknown_name(name, "run", names));
    }
  }
  std::vector<BitsRunPlan> chosen;
  for (BitsRunPlan& run : runs) {
    const bool further = std::ranges::find(options.with, run.name) != options.with.end() || !run.launcher.empty();
    if (further || std::ranges::find(options.only, run.name) != options.only.end()) chosen.push_back(std::move(run));
  }
  return chosen;
}

/// The variables of a run. Those of the user that choose algorithms are taken away first.
std::vector<std::string> variables_of(const BitsRunPlan& plan, const std::string& directory) {
  std::vector<std::string> words;
  for (const Collective collective : all_collectives) words.insert(words.end(), {"-u", algorithm_variable(collective)});
  for (const char* name : {"CIRCOLL_POLICY", "CIRCOLL_CORES", "CIRCOLL_REPORT", "CIRCOLL_TRACE"}) {
    words.insert(words.end(), {"-u", name});
  }
  // Nothing is learned, since other algorithms would take turns within a run; and short runs are served, too.
  words.insert(words.end(), {"CIRCOLL_LEARN=off", "CIRCOLL_SERVE_AFTER=0", "CIRCOLL_BITS_RECORD=" + directory});
  words.insert(words.end(), plan.variables.begin(), plan.variables.end());
  return words;
}

std::vector<RunBits> run_program_by(const BitsCompareOptions& options) {
  const std::vector<BitsRunPlan> plans = planned_runs(options);
  if (plans.size() < 2) misuse("bits are compared among two runs or more: --runs auto,native");
  const std::string records =
      options.run.directory.empty() ? new_report_directory(options.words) : options.run.directory;
  const Interruptible interruptible;
  std::vector<RunBits> runs;
  for (const BitsRunPlan& plan : plans) {
    const std::string directory = fs::absolute(fmt::format("{}/run-{}", records, runs.size() + 1)).string();
    fs::remove_all(directory);
    fs::create_directories(directory);
    fmt::print(stderr, "run {} of {}: {}\n", runs.size() + 1, plans.size(), plan.name);
    PairedRuns run = options.run;
    run.program = options.words;
    if (!plan.launcher.empty()) run.launcher = plan.launcher;
    run_recorded(run, plan.name, variables_of(plan, directory));
    if (!fs::exists(directory + "/rank-0.bits")) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("the run {} has written no record to {}; does the program call MPI_Init, and is the "
                              "directory the same on all nodes?",
                              plan.name, directory));
    }
    runs.push_back(read_bits_of_run(directory, plan.name));
    require_ranks(run, runs.back().ranks);
  }
  fmt::print(stderr, "The records are in {}; circoll bits-compare {}/run-* compares them again\n", records, records);
  return runs;
}

std::vector<RunBits> runs_of(const BitsCompareOptions& options) {
  const bool directories = std::ranges::all_of(options.words, [](const std::string& w) { return fs::is_directory(w); });
  if (!directories) {
    if (!may_start_ranks("bits-compare")) throw CLI::Success();
    return run_program_by(options);
  }
  std::vector<RunBits> runs;
  for (const std::string& directory : options.words) runs.push_back(read_bits_of_run(directory, directory));
  return runs;
}

}  // namespace

void add_bits_compare(CLI::App& app, Context& context) {
  const auto options = std::make_shared<BitsCompareOptions>();
  CLI::App* const command =
      app.add_subcommand("bits-compare", "Find the collectives of a program whose bits depend on algorithms");
  command
      ->add_option("what", options->words,
                   "After -- a program and its arguments; or the directories of records of two runs or more")
      ->type_name("PROGRAM")
      ->required();
  command->add_option("--np", options->run.ranks, "Ranks of the program that is run")->check(options::at_least(1));
  command->add_option("--mpi", options->run.mpi, "The MPI that the program uses")
      ->check(CLI::IsMember({"auto", "openmpi", "mpich"}))
      ->capture_default_str();
  command
      ->add_option("--runs", options->only,
                   "Only these of the usual runs: auto, again, native, linear, ring, tree, two-nodes. All others are "
                   "compared with the first one")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--with", options->with,
                   "One more run with these variables, as in 'CIRCOLL_ALLREDUCE=bine CIRCOLL_CORES=8'; may be given "
                   "several times")
      ->allow_extra_args(false);
  command
      ->add_option("--placed", options->placed,
                   "One more run that this command starts, as in 'mpirun --map-by node -np {np}'; may be given "
                   "several times")
      ->allow_extra_args(false);
  command->add_option("--launcher", options->run.launcher,
                      "Starts the ranks in place of the mpirun on PATH; {np} stands for their number");
  command->add_flag("--oversubscribe", options->run.oversubscribe, "Run more ranks than there are processors");
  command->add_option("--records", options->run.directory,
                      "The directory of the records; default: circoll-compare/PROGRAM-TIME");
  command->add_option("--run-limit", options->run.run_limit_s, "Seconds after which a run has failed")
      ->check(options::above_zero())
      ->capture_default_str();
  command->add_flag("--show-output", options->run.show_output, "Show what the program prints, on standard error");
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "A call changes bits if all ranks contribute the same bits as in the first run, and some rank gets others.\n"
      "CIRCOLL_SUM and other variables hold in all runs. The exit code is 1 if bits change.\n"
      "Examples:\n"
      "  circoll bits-compare --np 4 -- ./program its arguments\n"
      "  CIRCOLL_SUM=exact circoll bits-compare --np 4 -- ./program\n"
      "  circoll bits-compare --np 64 --launcher 'srun -n {np}' --placed 'srun -m cyclic -n {np}' -- ./program\n"
      "  circoll bits-compare one two    # after: CIRCOLL_BITS_RECORD=one mpirun -np 4 circoll run -- ./program;\n"
      "                                  #   and another run into two\n"
      "docs/user/reproducible.md says more.");
  command->callback([options, &context] {
    const BitsComparison comparison = compare_bits(runs_of(*options));
    print(options->json ? bits_json(comparison) : bits_text(comparison));
    if (comparison.changes_bits()) context.exit_code = exit_failure;
  });
}

}  // namespace circoll::cli
