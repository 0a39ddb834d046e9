// circoll show: an algorithm's schedules as text, JSON, a picture, or in forms of other tools.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/goal.hpp"
#include "circoll/picture.hpp"
#include "circoll/text.hpp"
#include "circoll/transform.hpp"
#include "commands.hpp"

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
};

void show(const ShowOptions& options) {
  Selection selection = parse_selection(options.id);
  if (options.bytes) selection = with_segment_count(selection, options.size, *options.bytes);
  if (options.root >= options.size || options.rank.value_or(0) >= options.size) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--root and --rank lie in 0 .. {} for -p {}", options.size - 1, options.size));
  }
  if (options.root != 0 && !is_rooted(selection.collective)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has no root", to_string(selection.collective)));
  }
  Shape shape{.size = options.size, .root = options.root, .in_place = options.in_place, .params = selection.params};
  if (options.segments) shape.params.insert_or_assign("segments", *options.segments);

  const auto build = [&](Rank rank) {
    shape.rank = rank;
    const Schedule schedule = build_schedule(*selection.algorithm, selection.collective, shape);
    return options.on_arrival ? combined_on_arrival(schedule, [](Rank) { return true; }) : schedule;
  };
  if (options.format == "svg" || options.format == "dot") {
    if (options.rank)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--format {} draws all ranks; leave out --rank", options.format));
    std::vector<Schedule> schedules;
    for (Rank rank = 0; rank < options.size; ++rank) schedules.push_back(build(rank));
    print(options.format == "svg" ? to_svg(schedules) : to_dot(schedules));
    return;
  }
  if (options.format == "goal") {
    if (options.rank || !options.bytes)
      throw Error(ErrorCode::invalid_argument,
                  "--format goal has sizes in it, and all ranks: give --bytes, and leave out --rank");
    print(goal_head(options.size));
    for (Rank rank = 0; rank < options.size; ++rank) print(to_goal(build(rank), *options.bytes, options.gamma * 1e9));
    return;
  }
  const bool json = options.format == "json";
  if (options.rank) {
    print(json ? to_json(build(*options.rank)) : to_text(build(*options.rank)));
    return;
  }
  for (Rank rank = 0; rank < options.size; ++rank) {  // rank by rank: all of them together may be large
    const Schedule schedule = build(rank);
    const std::string_view separator = json ? (rank == 0 ? "[\n" : ",\n") : (rank == 0 ? "" : "\n");
    print(fmt::format("{}{}", separator, json ? to_json(schedule) : to_text(schedule)));
  }
  if (json) print("]\n");
}

}  // namespace

void add_show(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command =
      app.add_subcommand("show", "Show an algorithm's schedules as text, JSON or a picture, or for other tools");
  command->add_option("id", options->id, "COLLECTIVE/ALGORITHM[:param=value,...]; see 'circoll list'")->required();
  command->add_option("-p,--ranks", options->size, "Number of ranks")
      ->required()
      ->transform(whole_number())
      ->check(CLI::Range(Rank{1}, (Rank{1} << 31) - 1));
  command->add_option("-r,--rank", options->rank, "Only this rank (default: all, one after another)")
      ->transform(whole_number());
  command->add_option("--root", options->root, "The root of a rooted collective")->transform(whole_number());
  command->add_option("-n,--segments", options->segments, "The parameter 'segments'")
      ->transform(whole_number())
      ->check(CLI::PositiveNumber);
  command->add_option("--bytes", options->bytes, "The vector (Ki, Mi, Gi), for the parameter 'segment' in bytes")
      ->transform(number_of_bytes());
  command->add_flag("--in-place", options->in_place, "As with MPI_IN_PLACE");
  command->add_flag("--on-arrival", options->on_arrival, "Messages are combined as they arrive, as ranks of a node do");
  command->add_option("--gamma", options->gamma, "Seconds per byte combined, for --format goal")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("-f,--format", options->format,
                   "text, json, svg; dot (Graphviz); goal (LogGOPSim, ATLAHS, htsim; needs --bytes)")
      ->check(CLI::IsMember({"text", "json", "svg", "dot", "goal"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  circoll show allreduce/circulant_optimal -p 11 --rank 0\n"
      "  circoll show allgather/circulant_optimal -p 5 --format json\n"
      "  circoll show reduce_scatter/circulant_optimal -p 11 --format svg > picture.svg\n"
      "  circoll show allreduce/recursive_doubling -p 16 --bytes 64Ki --format goal > doubling.goal\n"
      "The forms are described in docs/schedule-format.md.");
  command->callback([options] { show(*options); });
}

}  // namespace circoll::cli
