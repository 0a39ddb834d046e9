// circoll plot draws measurements of circoll-bench as a picture or as a page.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "chart/measured_chart.hpp"
#include "chart/measured_page.hpp"
#include "circoll/error.hpp"
#include "commands.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

struct DrawOptions {
  std::vector<std::string> files;
  std::string output;
  std::string kind;
  std::string title = "Collectives, measured";
  PanelFilter filter;
};

bool is_page(const std::string& path) {
  if (path.ends_with(".html")) return true;
  if (path.ends_with(".svg")) return false;
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' ends neither in .svg nor in .html", path));
}

std::optional<PlotKind> kind_from(const std::string& name) {
  for (const PlotKind kind : plot_kinds) {
    if (name == to_string(kind)) return kind;
  }
  return {};
}

void draw(const DrawOptions& o, Context& context) {
  const bool page = is_page(o.output);
  const std::optional<PlotKind> kind = kind_from(o.kind);
  std::vector<Launch> launches;
  for (const std::string& file : o.files) launches.push_back(launch_from_json(select::read_text_file(file), file));
  const Measured measured = measured_from(launches, o.filter);
  write_file(o.output, page ? measured_page(measured, kind, o.title)
                            : panels_svg(measured, kind.value_or(PlotKind::time), o.title));
  if (any_wrong(measured)) context.exit_code = exit_failure;
}

}  // namespace

void add_plot(CLI::App& app, Context& context) {
  auto options = std::make_shared<DrawOptions>();
  CLI::App* const command = app.add_subcommand("plot", "Draw what circoll-bench has measured");
  command->add_option("files", options->files, "What circoll bench --json wrote, a file per launch")
      ->type_name("FILE")
      ->required();
  command->add_option("-o,--output", options->output, "The picture, or the page: FILE.svg or FILE.html")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "-k,--kind", options->kind,
          "time (default), ratio (native's time over it), or normalised (bars of times over native's); a page has "
          "them all, and opens with this one")
      ->check(CLI::IsMember({"time", "ratio", "normalised"}))
      ->type_name("KIND");
  command->add_option("-c,--collective", options->filter.collectives, "Only these, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(collective_name());
  command->add_option("-a,--algorithm", options->filter.algorithms, "Only these, as circoll-bench was asked for them")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ALGORITHM");
  command->add_option("--title", options->title, "The heading")->capture_default_str();
  command->footer(
      "A panel per collective and number of ranks. Launches are put together as by circoll combine; intervals take "
      "two, and "
      "six for 95 % confidence.\n"
      "Exit code 1 if a launch had wrong results.\n"
      "Examples:\n"
      "  circoll plot 1.json -o times.svg\n"
      "  circoll plot [1-6].json -o report.html --title 'Our cluster, 36 nodes'\n"
      "  circoll plot [1-6].json -o fig.svg --kind normalised -c allreduce,reduce_scatter_block -a native,auto,ring");
  command->callback([options, &context] { draw(*options, context); });
}

}  // namespace circoll::cli
