// circoll tune writes rules that choose the fastest of the measured algorithms.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "circoll/error.hpp"
#include "circoll/measured/measurement.hpp"
#include "circoll/measured/tuning.hpp"
#include "commands.hpp"
#include "select/text_file.hpp"
#include "tune/for_report.hpp"

namespace circoll::cli {
namespace {

struct TuningOptions {
  std::vector<std::string> files;
  std::string output;
  TuneOptions tune;
};

void run(const TuningOptions& options) {
  std::vector<Launch> launches;
  for (const std::string& file : options.files) {
    launches.push_back(launch_from_json(select::read_text_file(file), file));
  }
  const std::vector<RuleCell> cells = tune(launches, options.tune);
  const std::string rules =
      rules_json(cells, measured_operator(launches.front()),
                 {.about = fmt::format("the fastest of what was measured, native where it is within {:g} %{}; {} "
                                       "launches; {}",
                                       options.tune.margin * 100,
                                       options.tune.in_every_launch ? ", or was faster in a launch" : "",
                                       launches.size(), launches.front().setting)});
  if (options.output.empty()) {
    print(rules);
    return;
  }
  write_file(options.output, rules);
  std::map<std::string, int> chosen;
  for (const RuleCell& cell : cells) ++chosen[cell.use];
  std::string text = fmt::format("{}: {} cells of {} launches\n", options.output, cells.size(), launches.size());
  for (const auto& [use, times] : chosen) text += fmt::format("{:>6}  {}\n", times, use);
  print(text);
}

}  // namespace

void add_tune(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<TuningOptions>();
  CLI::App* const command = app.add_subcommand("tune", "Write rules that choose the fastest of what was measured");
  command->add_option("files", options->files,
                      "What circoll-bench --json wrote: launches, of one or more numbers of ranks");
  command->add_option("-o,--output", options->output, "The file of rules; without it they are printed");
  command->add_option("--margin", options->tune.margin, "Native stays unless it takes longer by more than this share")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag(
      "--in-every-launch", options->tune.in_every_launch,
      "Native stays also where it was faster in one of the launches: for machines on which launches differ");
  const auto for_report = add_tune_for(*command);
  command->footer(
      "In each cell of collective, ranks and size the fastest by the median of the launches' medians. Neighbouring\n"
      "sizes with one choice become one rule, others meet at their geometric mean; other numbers of ranks are left to\n"
      "auto. docs/guidelines.md says more.\n"
      "Examples:\n"
      "  circoll tune [1-5].json -o rules.json    # after: for i in 1 2 3 4 5; do mpirun -np 4 circoll-bench \n"
      "                                           #   --collective allreduce --algorithm all --json $i.json; done\n"
      "  CIRCOLL_POLICY=file:rules.json mpirun -np 4 circoll run -- ./program\n"
      "  circoll tune --for report.json -o rules.json    # report.json is what CIRCOLL_REPORT=report.json wrote\n"
      "  circoll tune --for report.json --print-job slurm --nodes 4 --ranks-per-node 32 -o rules.json > job.sh");
  command->callback([options, for_report, command] {
    if (for_report->asked()) {
      read_shared_options(*command, *for_report);
      for_report->tune = options->tune;
      return tune_for_report(*for_report, options->output);
    }
    if (options->files.empty()) {
      throw Error(ErrorCode::invalid_argument, "give files of circoll-bench --json, or --for REPORT.json");
    }
    run(*options);
  });
}

}  // namespace circoll::cli
