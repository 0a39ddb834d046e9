// circoll tune writes rules that choose the fastest of the measured algorithms.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "circoll/error.hpp"
#include "commands.hpp"
#include "exported.hpp"
#include "measured/measurement.hpp"
#include "measured/tuning.hpp"
#include "options/ranges.hpp"
#include "select/text_file.hpp"
#include "tune/for_report.hpp"
#include "tune/here.hpp"

namespace circoll::cli {
namespace {

struct TuningOptions {
  std::vector<std::string> files;
  std::string output;
  TuneOptions tune;
  bool here = false;
  HereOptions on_node;
  ExportRequest exported;
};

/// Measures this node if no files are given.
void measure(TuningOptions options) {
  if (!options.files.empty()) {
    throw Error(ErrorCode::invalid_argument, "--here measures this node, and takes no files");
  }
  options.on_node.output = options.output;
  tune_here(options.on_node);
}

void run(const TuningOptions& options) {
  if (!options.on_node.launcher.empty()) {
    throw Error(ErrorCode::invalid_argument, "files are not measured: --launcher is for --here and --for");
  }
  const std::vector<Launch> launches = read_launches(options.files);
  TuneOptions tuning = options.tune;
  tuning.library = options.exported.library();
  const std::vector<RuleCell> cells = tune(launches, tuning);
  const std::string about =
      fmt::format("the fastest of what was measured, native where it is within {:g} %{}; {} launches; {}",
                  options.tune.margin * 100, options.tune.in_every_launch ? ", or was faster in a launch" : "",
                  launches.size(), launches.front().setting);
  if (options.exported.wanted()) {
    std::vector<const Launch*> all;
    all.reserve(launches.size());
    for (const Launch& launch : launches) all.push_back(&launch);
    print(write_exported(options.exported, options.output, cells, all, about));
    return;
  }
  const std::string rules = rules_json(cells, measured_operator(launches.front()), {.about = about});
  if (options.output.empty()) {
    print(rules);
    return;
  }
  write_file(options.output, rules);
  print(chosen_text(options.output, cells, launches.size()));
}

}  // namespace

void add_tune(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<TuningOptions>();
  CLI::App* const command =
      app.add_subcommand("tune", "Measure, and choose the fastest algorithms for this machine or a program");
  command
      ->add_option("files", options->files,
                   "Launches, by circoll bench --json, of one or more numbers of ranks. Without files this "
                   "node is measured. With --for a program behind --, which is run with the rules")
      ->type_name("FILE");
  command->add_flag("--here", options->here,
                    "Measure this node, and write what is faster than today into the profile that auto uses");
  add_here_options(*command, options->on_node);
  command->add_option(
      "-o,--output", options->output,
      "The profile of --here and --for, which is in the user's directory without it; of FILEs the rules, which are "
      "printed without it");
  command
      ->add_option("--margin", options->tune.margin,
                   "Native stays unless it takes longer by more than this share, and with --here or --for so does "
                   "today's choice (default 0.05, and 0.03 with them)")
      ->check(options::at_least(0));
  command->add_flag(
      "--in-every-launch", options->tune.in_every_launch,
      "Native stays also where it was faster in one of the launches: for machines on which launches differ");
  const auto for_report = add_tune_for(*command);
  add_export_options(*command, options->exported);
  command->footer(
      "In each cell of collective, ranks and size the fastest by the median of the launches' medians. Neighbouring\n"
      "sizes with one choice become one rule, others meet at their geometric mean; other numbers of ranks are left to\n"
      "auto. docs/admin/measuring.md says more.\n"
      "--here and --for write a profile, which programs under the drop-in use by themselves: docs/admin/tuning.md.\n"
      "Examples:\n"
      "  circoll tune --here\n"
      "  circoll tune --here -p 2,4 --mpi mpich --keep results\n"
      "  circoll tune [1-5].json -o rules.json    # after: for i in 1 2 3 4 5; do mpirun -np 4 circoll bench \n"
      "                                           #   --collective allreduce --algorithm all --json $i.json; done\n"
      "  CIRCOLL_POLICY=file:rules.json mpirun -np 4 circoll run -- ./program\n"
      "  circoll tune --for report.json -- ./program    # report.json is what CIRCOLL_REPORT=report.json wrote\n"
      "  circoll tune --for report.json --print-job slurm --nodes 4 --ranks-per-node 32 > job.sh\n"
      "  circoll tune [1-5].json --export openmpi-4.1 -o tuned.conf    # after: circoll bench --native-algorithms; \n"
      "                                           #   docs/admin/other-mpis.md");
  command->callback([options, for_report, command] {
    const double margin = command->count("--margin") > 0 ? options->tune.margin : options->on_node.margin;
    if (for_report->asked()) {
      read_shared_options(*command, *for_report);
      for_report->tune = options->tune;
      for_report->tune.margin = margin;
      for_report->program = options->files;
      return tune_for_report(*for_report, options->output);
    }
    options->on_node.launcher = for_report->launcher;
    options->on_node.margin = margin;
    options->here || options->files.empty() ? measure(*options) : run(*options);
  });
}

}  // namespace circoll::cli
