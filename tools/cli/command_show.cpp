// circoll show: an algorithm's schedules as text, JSON, a picture, or in forms of other tools.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "circoll/transform.hpp"
#include "commands.hpp"
#include "graph/neighbor_call.hpp"
#include "lab.hpp"
#include "options/ranges.hpp"
#include "schedule_file.hpp"
#include "show/picture.hpp"

namespace circoll::cli {
namespace {

struct ShowOptions {
  std::string id;
  Rank size = 0;
  std::optional<Rank> rank;
  Rank root = 0;
  std::optional<std::int64_t> segments;
  std::optional<Count> bytes;
  double gamma = 0;
  bool in_place = false;
  bool on_arrival = false;
  std::string format = "text";
  std::string output;
  GraphOptions graph{};
  Rank cores = 1;
};

Shown shown_file(const ShowOptions& options) {
  const auto file = std::make_shared<ScheduleFile>(read_schedule_file(options.id));
  return {static_cast<Rank>(file->ranks.size()),
          [file](Rank rank) { return file->ranks[static_cast<std::size_t>(rank)]; }};
}

Shown shown_neighbors(const ShowOptions& options) {
  const NeighborCall call =
      read_neighbor_call(options.id, options.graph, options.size > 0 ? std::optional(options.size) : std::nullopt);
  const auto schedules = std::make_shared<std::vector<Schedule>>(
      schedules_of(call.halo, call.way(), node_by_node(call.ranks(), options.cores)));
  for (Schedule& schedule : *schedules) schedule.id = call.id;
  return {call.ranks(), [schedules](Rank rank) { return (*schedules)[static_cast<std::size_t>(rank)]; }};
}

Shown shown_algorithm(const ShowOptions& options) {
  if (options.size == 0) misuse("-p, the number of ranks, is needed");
  Selection selection = parse_selection(options.id);
  if (options.bytes) selection = with_segment_count(selection, options.size, *options.bytes);
  check_root(options.root, options.size, selection.collective);
  Shape shape{.size = options.size, .root = options.root, .in_place = options.in_place, .params = selection.params};
  if (options.segments) shape.params.insert_or_assign("segments", *options.segments);
  return {options.size, [selection, shape](Rank rank) mutable {
            shape.rank = rank;
            return build_schedule(*selection.algorithm, selection.collective, shape);
          }};
}

/// The form of the lab that is asked for, or nullptr.
const LabForm* lab_form(const ShowOptions& options) {
  for (const LabForm& form : lab().forms) {
    if (form.name == options.format) return &form;
  }
  return nullptr;
}

void check_options(const ShowOptions& options, const Shown& shown) {
  const LabForm* const form = lab_form(options);
  const bool drawn = options.format == "svg";
  if ((form != nullptr || drawn) && options.rank)
    misuse(fmt::format("--format {} has all ranks in it; leave out --rank", options.format));
  const Rank most = drawn ? most_drawn : form != nullptr ? form->most_ranks : 0;
  if (most != 0 && shown.size > most) {
    misuse(fmt::format(
        "a picture has at most {} ranks; the text of one rank: --rank 0; many ranks: --format json, rank by rank",
        most));
  }
  if (form != nullptr && form->needs_bytes && !options.bytes)
    misuse(fmt::format("--format {} has sizes in it: give --bytes", options.format));
  const bool needs_output = form != nullptr && form->needs_output;
  if (needs_output && options.output.empty())
    misuse(fmt::format("--format {} is a file for each rank: give --output PREFIX", options.format));
  if (!needs_output && !options.output.empty())
    misuse(fmt::format("--output is for forms of a file for each rank; --format {} is printed", options.format));
  if (options.rank.value_or(0) >= shown.size)
    misuse(fmt::format("--rank lies in 0 .. {} for p = {}", shown.size - 1, shown.size));
}

/// Text or JSON, of one rank or of all.
void show_own(const ShowOptions& options, const Shown& shown) {
  const bool json = options.format == "json";
  if (!json && isatty(STDOUT_FILENO) != 0) {  // for people; a file is the text alone
    print(
        "# buffer B: N slots from F by S: slot i holds block F + i * S. B[i+n]: n slots of B from slot i on.\n"
        "# The whole format: docs/lab/formats.md\n");
  }
  if (options.rank) {
    print(json ? to_json(shown.of(*options.rank)) : to_text(shown.of(*options.rank)));
    return;
  }
  for (Rank rank = 0; rank < shown.size; ++rank) {  // rank by rank: all of them together may be large
    const Schedule schedule = shown.of(rank);
    const std::string_view separator = json ? (rank == 0 ? "[\n" : ",\n") : (rank == 0 ? "" : "\n");
    print(fmt::format("{}{}", separator, json ? to_json(schedule) : to_text(schedule)));
  }
  if (json) print("]\n");
}

void show(const ShowOptions& options) {
  const bool neighbors = is_neighbor_word(options.id);
  if (!neighbors) refuse_graph(options.id, options.graph);
  Shown shown = neighbors                ? shown_neighbors(options)
                : names_file(options.id) ? shown_file(options)
                                         : shown_algorithm(options);
  check_options(options, shown);
  if (options.on_arrival) {
    shown.of = [of = shown.of](Rank rank) { return combined_on_arrival(of(rank), [](Rank) { return true; }); };
  }
  if (const LabForm* const form = lab_form(options)) {
    form->write({.shown = shown,
                 .bytes = options.bytes.value_or(0),
                 .gamma_s_per_byte = options.gamma,
                 .output = options.output});
  } else if (options.format == "svg") {
    print(to_svg(shown.all()));
  } else {
    show_own(options, shown);
  }
}

}  // namespace

void add_show(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Show an algorithm's schedules as text, JSON or a picture, or for other tools");
  command
      ->add_option(
          "id", options->id,
          "COLLECTIVE/ALGORITHM[:param=value,...], see 'circoll list'; or a file of schedules (docs/lab/formats.md)")
      ->type_name("ID")
      ->required();
  command->add_option("-p,--ranks", options->size, "Number of ranks")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31) - 1));
  command->add_option("-r,--rank", options->rank, "Only this rank (default: all, one after another)")
      ->transform(whole_number());
  command->add_option("--root", options->root, "The root of a rooted collective")->transform(whole_number());
  add_graph_options(*command, options->graph);
  command->add_option("--cores", options->cores, "Ranks on a node, for neighbor_alltoall/node_aware and so on")
      ->transform(whole_number())
      ->check(options::at_least(Rank{1}));
  command->add_option("-n,--segments", options->segments, "The parameter 'segments'")
      ->transform(whole_number())
      ->check(options::at_least(1));
  command->add_option("--bytes", options->bytes, "The vector (Ki, Mi, Gi), for the parameter 'segment' in bytes")
      ->transform(number_of_bytes());
  command->add_flag("--in-place", options->in_place, "As with MPI_IN_PLACE");
  command->add_flag("--on-arrival", options->on_arrival, "Messages are combined as they arrive, as ranks of a node do");
  command->add_option("--gamma", options->gamma, "Seconds per byte combined, for --format goal and chakra")
      ->check(options::at_least(0))
      ->capture_default_str();
  std::vector<std::string> formats{"text", "json", "svg"};
  std::string known = "text, json, svg";
  for (const LabForm& form : lab().forms) {
    formats.emplace_back(form.name);
    known += fmt::format("; {}", form.note);
  }
  command->add_option("-f,--format", options->format, known)
      ->transform(CLI::IsMember(formats, CLI::ignore_case))
      ->capture_default_str();
  command
      ->add_option("-o,--output", options->output, "Write the file PREFIX.<rank>.et for each rank, for --format chakra")
      ->type_name("PREFIX");
  std::string footer =
      "Examples:\n"
      "  circoll show allreduce/circulant_optimal -p 11 --rank 0\n"
      "  circoll show allgather/circulant_optimal -p 5 --format json\n"
      "  circoll show reduce_scatter/circulant_optimal -p 11 --format svg > picture.svg\n"
      "  circoll show neighbor_alltoall --cart 4x4,periodic --format svg > grid.svg\n";
  for (const std::string_view example : lab().examples_of_show) footer += fmt::format("  {}\n", example);
  command->footer(footer + "The forms are described in docs/lab/formats.md.");
  command->callback([options, command] {
    refuse_for_file(options->id, *command, {"--ranks", "--root", "--segments", "--in-place"});
    const LabForm* const form = lab_form(*options);
    if (form == nullptr || !form->needs_bytes) refuse_for_file(options->id, *command, {"--bytes", "--gamma"});
    show(*options);
  });
}

}  // namespace circoll::cli
