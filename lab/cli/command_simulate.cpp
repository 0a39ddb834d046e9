// circoll simulate: the times of collectives on a described machine, played event by event.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "circoll/error.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "cli/lab_commands.hpp"
#include "cli/simulate/scene.hpp"
#include "facts/median.hpp"
#include "facts/text.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "schedule_file.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

/// At most this number of steps is recorded without being asked for. These take 200 megabytes.
constexpr std::int64_t most_recorded = 1'000'000;

OperatorTraits traits_of(const SimulateOptions& o, Collective collective) {
  if (!is_reducing(collective)) return {true, true};
  const Op op = *op_from_string(o.op);
  return {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
}

/// The selection with the scene's nodes, and the parameters that the cost model finds best.
Selection completed_for(const Selection& selection, Rank p, Count bytes, const Scene& scene) {
  Selection placed = with_segment_count(selection, p, bytes);
  if (is_for_nodes(*placed.algorithm) && scene.network.cores > 1) placed.params.emplace("cores", scene.network.cores);
  return with_best_parameters(placed, p, bytes, scene.machine, scene.root);
}

ordered_json as_json(const std::vector<double>& sorted_s) {
  const auto at = [&](double share) {
    return sorted_s[static_cast<std::size_t>(std::llround(share * static_cast<double>(sorted_s.size() - 1)))];
  };
  return {{"seeds", sorted_s.size()}, {"least_s", sorted_s.front()}, {"p10_s", at(0.1)}, {"median_s", at(0.5)},
          {"p90_s", at(0.9)},         {"most_s", sorted_s.back()}};
}

/// An algorithm, or schedules of all ranks that were read from a file.
// NOLINTNEXTLINE(bugprone-exception-escape): JSON is moved without exceptions
struct Subject {
  Selection selection{};
  std::vector<Schedule> schedules{};
  std::string words{};     ///< more about it
  ordered_json numbers{};  ///< likewise
};

/// The most ranks of a chart of steps: of more, bars would be thinner than a pixel.
constexpr Rank most_charted = 512;

/// Prints the result as JSON or text, and draws the chart that was asked for.
void show(const SimulateOptions& o, const ordered_json& json, const std::string& text) {
  print(o.json ? json.dump(2) + "\n" : text);
  if (o.chart) o.chart->draw_json(json.dump());
}

/// [rank, step, kind, begin, end] of each step that was played, as charts have them.
ordered_json steps_as_json(const sim::Ranks& ranks, const sim::SimulatedRun& outcome) {
  ordered_json steps = ordered_json::array();
  for (Rank rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t first = outcome.first_step[static_cast<std::size_t>(rank)];
    const std::size_t last = outcome.first_step[static_cast<std::size_t>(rank) + 1];
    for (std::size_t i = first; i < last; ++i) {
      const auto step = static_cast<StepIndex>(i - first);
      steps.push_back({rank, step, static_cast<int>(sim::kind_of(ranks, rank, step)), outcome.played[i].begin_s,
                       outcome.played[i].end_s});
    }
  }
  return steps;
}

/// One algorithm on a network with a shape, read round by round.
void read_one(const SimulateOptions& o, const Scene& scene, const sim::Ranks& ranks, ordered_json json,
              std::string text) {
  const sim::Contention contention = read_rounds(ranks, o.bytes.front(), scene);
  json["topology"] = scene.fabric->topology->text();
  json["placement"] = o.placement;
  json["cores"] = o.cores;
  json["ports"] = scene.fabric->ports;
  add_contention(json, contention, *scene.fabric);
  text += "  on " + network_in_words(o, *scene.fabric) + "\n";
  text += contention_in_words(contention, *scene.fabric, 24);
  show(o, json, text);
}

/// One algorithm, one p, one size: all that can be said of it.
void simulate_one(const SimulateOptions& o, const Scene& base, const Subject& subject, Context& context) {
  const Rank p = o.sizes.front();
  const Count bytes = o.bytes.front();
  const Scene scene = for_size(base, o, p);
  if (o.chart && !scene.fabric && p > most_charted)
    misuse(fmt::format("a chart of steps has at most {} ranks; --topology draws rounds of more", most_charted));
  const bool from_file = !subject.schedules.empty();
  const Selection selection = from_file ? Selection{} : completed_for(subject.selection, p, bytes, scene);
  const std::string name = from_file ? subject.schedules.front().id : with_params(selection);
  const sim::Ranks ranks = from_file ? sim::Ranks(subject.schedules) : generate(selection, p, scene);
  ordered_json json = {{"id", from_file ? name : selection.id()},
                       {"params", selection.params},
                       {"p", p},
                       {"root", o.root},
                       {"bytes", bytes},
                       {"messages", ranks.messages()},
                       {"programs", ranks.programs()}};
  std::string text =
      fmt::format("{}  p = {}, m = {}\n  {} messages, {}\n", name, p, readable_bytes(bytes), ranks.messages(),
                  ranks.programs() == 1 ? "all ranks do the same" : fmt::format("{} kinds of ranks", ranks.programs()));
  text += subject.words;
  if (!subject.numbers.is_null()) json.update(subject.numbers);
  if (scene.fabric) return read_one(o, scene, ranks, std::move(json), std::move(text));
  const bool record = o.path || o.chart || !o.trace.empty() || (!o.shared && ranks.steps() <= most_recorded);
  const sim::SimulatedRun outcome = play_once(ranks, bytes, scene, record);
  if (!o.trace.empty()) write_file(o.trace, trace_of(ranks, outcome, bytes, name));
  json["events"] = outcome.events;
  json["time_s"] = outcome.time_s;
  json["last_arrival_s"] = outcome.last_arrival_s;
  json["last_rank"] = outcome.last_rank;
  text += fmt::format("  time {}, rank {} ends last", readable_time(outcome.time_s), outcome.last_rank);
  text += outcome.last_arrival_s > 0
              ? fmt::format("; the last has arrived at {}\n", readable_time(outcome.last_arrival_s))
              : "\n";
  std::vector<double> ends = outcome.end_s;
  std::sort(ends.begin(), ends.end());
  text += fmt::format("  ranks end: first {}, median {}, last {}\n", readable_time(ends.front()),
                      readable_time(median_of_sorted(ends)), readable_time(ends.back()));
  json["first_end_s"] = ends.front();
  json["median_end_s"] = median_of_sorted(ends);
  if (record) {
    const std::vector<double> idle = idle_times(ranks, outcome);
    const double mean = std::accumulate(idle.begin(), idle.end(), 0.0) / static_cast<double>(idle.size());
    const double most = *std::max_element(idle.begin(), idle.end());
    text += fmt::format("  ranks idle: mean {}, most {}\n", readable_time(mean), readable_time(most));
    text += slack_in_words(outcome);
    json["idle_mean_s"] = mean;
    json["idle_most_s"] = most;
    if (o.chart) json["steps"] = steps_as_json(ranks, outcome);
    json["path"] = ordered_json::array();
    for (const sim::PathStep& step : critical_path(outcome)) {
      json["path"].push_back({{"rank", step.rank},
                              {"step", step.step},
                              {"what", describe(ranks, step.rank, step.step, static_cast<double>(bytes))},
                              {"begin_s", step.played.begin_s},
                              {"end_s", step.played.end_s}});
    }
    text += "critical path\n" + path_in_words(ranks, outcome, bytes, 40);
    if (p <= 4096) {
      json["ranks"] = {{"begin_s", outcome.begin_s},
                       {"end_s", outcome.end_s},
                       {"idle_s", idle},
                       {"slack_s", outcome.arrival_slack_s}};
    }
  }
  try {
    if (scene.seeds > 1) {
      const SeedTimes times = play_seeds(ranks, bytes, scene);
      json["distribution"] = as_json(times.sorted_s);
      text +=
          fmt::format("{} seeds: least {}, median {}, most {}\n", scene.seeds, readable_time(times.sorted_s.front()),
                      readable_time(times.median()), readable_time(times.sorted_s.back()));
    }
    if (o.what_if) {
      text += "what if\n";
      for (const Variation& variation : variations(scene, p)) {
        const double time_s = play_seeds(ranks, bytes, variation.scene).median();
        json["what_if"].push_back({{"what", variation.name}, {"time_s", time_s}});
        text += fmt::format("  {:<40}{:>10}{:>9.2f} times\n", variation.name, readable_time(time_s),
                            time_s / outcome.time_s);
      }
    }
  } catch (const sim::Stopped&) {
    json["partial"] = true;
    text += "stopped: what stands here is a part\n";
    context.exit_code = exit_failure;
  }
  show(o, json, text);
}

/// An algorithm's time in a table.
struct TimedAlgorithm {
  Selection selection;
  double time_s = 0;
  double alone_s = 0;  ///< on a network with a shape: if no two messages shared a link
};

TimedAlgorithm timed(const Selection& selection, const sim::Ranks& ranks, Count bytes, const Scene& scene) {
  if (!scene.fabric) return {selection, play_seeds(ranks, bytes, scene).median()};
  const sim::Contention contention = read_rounds(ranks, bytes, scene);
  return {selection, contention.time_s, contention.alone_s};
}

/// The algorithms of a row, fastest first.
std::vector<TimedAlgorithm> timed_row(const SimulateOptions& o, const Scene& scene,
                                      const std::vector<Selection>& candidates, Rank p, Count bytes,
                                      ordered_json& left_out) {
  std::vector<TimedAlgorithm> row;
  for (const Selection& candidate : candidates) {
    std::string why = unmet_need(candidate, p, traits_of(o, candidate.collective));
    if (why.empty() && candidates.size() > 1)
      why = unranked_because(*candidate.algorithm, candidate.collective, scene.network.cores > 1);
    if (why.empty()) {
      try {
        const Selection selection = completed_for(candidate, p, bytes, scene);
        const sim::Ranks ranks = generate(selection, p, scene);
        row.push_back(timed(selection, ranks, bytes, scene));
        continue;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unsupported || candidates.size() == 1) throw;
        why = error.what();
      }
    }
    left_out.push_back({{"id", candidate.id()}, {"p", p}, {"bytes", bytes}, {"reason", why}});
  }
  // Of equal times those come first that `auto` may take.
  const auto key = [](const TimedAlgorithm& one) { return std::pair(one.time_s, !one.selection.algorithm->automatic); };
  std::stable_sort(row.begin(), row.end(),
                   [&](const TimedAlgorithm& a, const TimedAlgorithm& b) { return key(a) < key(b); });
  return row;
}

void simulate_table(const SimulateOptions& o, const Scene& base, const std::vector<Selection>& candidates,
                    Context& context) {
  ordered_json json = {{"collective", to_string(candidates.front().collective)},
                       {"rows", ordered_json::array()},
                       {"crossovers", ordered_json::array()},
                       {"left_out", ordered_json::array()}};
  std::string text;
  std::string crossovers;
  try {
    for (const Rank p : o.sizes) {
      const Scene scene = for_size(base, o, p);
      if (scene.fabric) text += "on " + network_in_words(o, *scene.fabric) + "\n";
      const Algorithm* before = nullptr;
      for (const Count bytes : o.bytes) {
        const std::vector<TimedAlgorithm> row = timed_row(o, scene, candidates, p, bytes, json["left_out"]);
        ordered_json times = ordered_json::array();
        text += fmt::format("p = {}, m = {}{}\n", p, readable_bytes(bytes),
                            scene.fabric ? ": time, and time if no two messages shared a link" : "");
        for (const TimedAlgorithm& cell : row) {
          text += fmt::format("  {:<52}{:>10}", with_params(cell.selection), readable_time(cell.time_s));
          times.push_back({{"id", cell.selection.id()}, {"params", cell.selection.params}, {"time_s", cell.time_s}});
          if (scene.fabric) {
            text += fmt::format("{:>10}", readable_time(cell.alone_s));
            times.back()["alone_s"] = cell.alone_s;
          }
          text += "\n";
        }
        json["rows"].push_back({{"p", p}, {"bytes", bytes}, {"times", times}});
        if (scene.fabric) json["rows"].back()["topology"] = scene.fabric->topology->text();
        if (row.empty()) continue;
        const Algorithm* const best = row.front().selection.algorithm;
        if (before != nullptr && best != before) {
          crossovers += fmt::format("  p = {}: {} is the fastest up to less than {}, {} from there\n", p, before->name,
                                    readable_bytes(bytes), best->name);
          json["crossovers"].push_back({{"p", p}, {"bytes", bytes}, {"from", before->name}, {"to", best->name}});
        }
        before = best;
      }
    }
  } catch (const sim::Stopped&) {
    json["partial"] = true;
    text += "stopped: what stands here is a part\n";
    context.exit_code = exit_failure;
  }
  if (!crossovers.empty()) text += "crossovers, as far as the sizes tell\n" + crossovers;
  show(o, json, text);
}

void simulate_file(SimulateOptions o, Context& context) {
  if (o.bytes.size() != 1) misuse("a file of schedules is simulated with one size");
  Subject subject;
  ProvenFile proven = read_proven_file(o.what);
  require_fits(proven, traits_of(o, proven.file.first().collective));
  subject.schedules = std::move(proven.file.ranks);
  o.sizes = {subject.schedules.front().shape.size};
  try {
    simulate_one(o, scene_of(o), subject, context);
  } catch (const sim::Stopped&) {
    throw std::runtime_error("stopped before there was a result");
  }
}

/// A neighbourhood collective. `bytes` are those of one value.
void simulate_neighbor(SimulateOptions o, Context& context) {
  if (o.bytes.size() != 1 || o.sizes.size() > 1)
    misuse("a neighbourhood collective is simulated with one -p and one size");
  const NeighborCall call =
      read_neighbor_call(o.what, o.graph, o.sizes.empty() ? std::nullopt : std::optional(o.sizes.front()));
  Subject subject;
  o.sizes = {call.ranks()};
  const Scene scene = scene_of(o);
  const Scene placed = for_size(scene, o, call.ranks());
  std::vector<Rank> node_of = node_by_node(call.ranks(), o.cores);
  if (placed.fabric) std::copy(placed.fabric->node_of.begin(), placed.fabric->node_of.end(), node_of.begin());
  subject.schedules = schedules_of(call.halo, call.way(), node_of);
  for (Schedule& schedule : subject.schedules) {
    schedule.id = call.id;
    schedule.collective = Collective::allgather;  // the vector is all values, where that of an alltoall is a rank's
  }
  subject.words = traffic_in_words(call, node_of, o.bytes.front());
  subject.numbers = traffic_as_json(call, node_of, o.bytes.front());
  o.bytes.front() *= subject.schedules.front().blocks();
  simulate_one(o, scene, subject, context);
}

void run(SimulateOptions o, Context& context) {
  const Interruptible interruptible;
  check_network_options(o);
  o.chart = chart_for(o.plot);
  if (is_neighbor_word(o.what)) return simulate_neighbor(std::move(o), context);
  refuse_graph(o.what, o.graph);
  if (names_file(o.what) && o.files.empty()) return simulate_file(std::move(o), context);
  const auto collective = collective_from_string(o.what);
  std::vector<Selection> given;
  for (const std::string& file : o.files) given.push_back(selection_of_file(file));
  if (o.sizes.empty() && !given.empty()) o.sizes = {given.front().algorithm->needs.only_size};
  if (o.sizes.empty()) misuse("-p, the numbers of ranks, is needed");
  const Scene scene = scene_of(o);
  std::vector<Selection> candidates;
  if (collective) {
    for (const Algorithm* a : algorithms_of(*collective)) candidates.push_back({a, *collective, {}});
  } else {
    candidates.push_back(names_file(o.what) ? selection_of_file(o.what) : parse_selection(o.what));
  }
  for (const Selection& file : given) {
    if (file.collective != candidates.front().collective) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} is no algorithm of {}", file.id(), to_string(candidates.front().collective)));
    }
    candidates.push_back(file);
  }
  std::sort(o.sizes.begin(), o.sizes.end());
  std::sort(o.bytes.begin(), o.bytes.end());
  check_root(o.root, o.sizes.front(), candidates.front().collective);
  const bool one = candidates.size() == 1 && !collective && o.sizes.size() == 1 && o.bytes.size() == 1;
  if (!one && (!o.trace.empty() || o.path || o.what_if))
    misuse("--trace, --path and --what-if are about one algorithm, one -p and one size");
  for (const Rank p : o.sizes) {
    for (const Selection& named : candidates) {
      if (collective &&
          std::ranges::none_of(given, [&](const Selection& file) { return file.algorithm == named.algorithm; }))
        continue;
      const std::string unmet = unmet_need(named, p, traits_of(o, named.collective));
      if (!unmet.empty()) throw Error(ErrorCode::unsupported, fmt::format("{} {}", named.id(), unmet));
    }
  }
  try {
    if (one) {
      simulate_one(o, scene, {.selection = candidates.front()}, context);
    } else {
      simulate_table(o, scene, candidates, context);
    }
  } catch (const sim::Stopped&) {
    throw std::runtime_error("stopped before there was a result");
  }
}

}  // namespace

void add_simulate(CLI::App& app, Context& context) {
  auto options = std::make_shared<SimulateOptions>();
  SimulateOptions& o = *options;
  CLI::App* command =
      app.add_subcommand("simulate", "Play collectives on a described machine, of up to a million ranks");
  command
      ->add_option("what", o.what,
                   "COLLECTIVE/ALGORITHM[:param=value,...]; COLLECTIVE: all of its algorithms; or a file of schedules")
      ->type_name("WHAT")
      ->required();
  command->add_option("files", o.files, "Files of schedules, which are ranked beside it")->type_name("FILE");
  command->add_option("-p,--ranks", o.sizes, "Numbers of ranks (default with files: theirs)")
      ->delimiter(',')
      ->transform(whole_number())
      ->check(options::between(Rank{1}, (Rank{1} << 31U) - 1));
  command->add_option("-b,--bytes", o.bytes, "Sizes of the vector; Ki, Mi, Gi may follow (default: 1Ki)")
      ->delimiter(',')
      ->transform(number_of_bytes())
      ->check(options::between(Count{0}, Count{1} << 50U));
  command->add_option("--root", o.root, "The root of a rooted collective")->transform(whole_number());
  command->add_option("--op", o.op, "The operator of a reduction: rules algorithms out that it does not suit")
      ->transform(op_name())
      ->capture_default_str();
  add_graph_options(*command, o.graph);
  add_machine_options(*command, o);
  command->add_option("--jobs", o.jobs, "Threads that generate schedules (default: one per core)")
      ->check(options::at_least(0));
  command->add_option("--trace", o.trace, "Write a trace for Perfetto")->type_name("FILE.json");
  add_plot_option(*command, o.plot);
  command->add_flag("--path", o.path, "The critical path and idle times also of more than a million steps");
  command->add_flag("--what-if", o.what_if, "Also with half the latency, twice the bandwidth, a slow rank, and so on");
  command->add_flag("--json", o.json, "As JSON");
  command->footer(
      "The model is written down in docs/lab/simulator.md. Parameters that are not given are the cost model's best.\n"
      "Examples:\n"
      "  circoll simulate allreduce/circulant -p 1Mi --bytes 8\n"
      "  circoll simulate bcast/binomial -p 24 --bytes 64Ki --what-if\n"
      "  circoll simulate allreduce -p 64,1000 --bytes 8,1Ki,1Mi\n"
      "  circoll simulate bcast/binomial -p 24 --bytes 64Ki --plot steps.svg\n"
      "  circoll simulate bcast mine.json --bytes 8,64Ki,1Mi\n"
      "  circoll simulate neighbor_alltoall --cart 16x16 --cores 16 --bytes 1Ki\n"
      "  circoll simulate reduce/chain -p 16 --bytes 1Mi --skew exponential:20us --seeds 100 --json\n"
      "  circoll simulate allreduce -p 256 --bytes 1Mi --cores 4 --topology fat_tree:nodes=64,leaves=8,spines=4\n"
      "Ctrl-C ends it; results that are there are printed, and said to be a part.");
  command->callback([options, command, &context] {
    if (options->files.empty()) refuse_for_file(options->what, *command, {"--ranks", "--root", "--jobs"});
    run(*options, context);
  });
}

}  // namespace circoll::cli
