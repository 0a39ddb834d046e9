// circoll plot draws what other commands wrote with --json.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "chart.hpp"
#include "commands.hpp"
#include "process.hpp"

namespace circoll::cli {
namespace {

struct PlotOptions {
  std::vector<std::string> files;
  std::string output;
  ChartOptions chart{};
};

}  // namespace

void add_plot(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<PlotOptions>();
  CLI::App* command =
      app.add_subcommand("plot", "Draw a chart of measurements, costs, rounds, failures or simulations");
  command
      ->add_option(
          "files", options->files,
          "Files of bench, merge, cost --sizes, faults or simulate, written with --json (simulate of one algorithm "
          "with --plot, too), or of show --format json; several of bench or merge are one chart")
      ->type_name("FILE.json")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-o,--output", options->output, "The chart: .svg, .pdf or .png")
      ->type_name("FILE.svg")
      ->required()
      ->check(chart_file());
  command
      ->add_option("--kind", options->chart.kind,
                   "Measurements as times over sizes (default), or as bars of ratios to native; rounds as a space-time "
                   "diagram (default), or as circles")
      ->check(CLI::IsMember({"times", "ratios", "spacetime", "circle"}));
  command->add_option("--title", options->chart.title, "A title in place of the usual one");
  command->footer(
      "Charts need Python with matplotlib. `import circoll.plot` draws the same in Python (docs/lab/python.md).\n"
      "Examples:\n"
      "  circoll cost allreduce -p 36 --bytes 64Mi --sizes --json > times.json\n"
      "  circoll plot times.json -o times.svg\n"
      "  circoll show allreduce/ring -p 8 --format json > ring.json\n"
      "  circoll plot ring.json -o ring.svg --kind circle");
  command->callback([options] {
    const Interruptible interruptible;
    Chart(options->output).draw(options->files, options->chart);
    print(fmt::format("{}: a chart\n", options->output));
  });
}

}  // namespace circoll::cli
