// circoll traffic: messages and bytes of an algorithm between the groups, switches and hosts that a job has.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "chart.hpp"
#include "circoll/error.hpp"
#include "circoll/text.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "model/level_traffic.hpp"
#include "model/near_labels.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "schedule/relabelling.hpp"
#include "select/allocation.hpp"
#include "select/text_file.hpp"

namespace circoll::cli {
namespace {

struct TrafficOptions {
  std::vector<std::string> ids;
  std::vector<std::string> allocations;
  std::string topology;
  Rank size = 0;  ///< 0: all ranks of the allocation
  Rank cores = 1;
  bool cores_given = false;  ///< on the command line
  Rank root = 0;
  Count bytes = 1 << 20;
  bool relabel = false;
  std::string schedules;  ///< where relabelled schedules are written; empty: nowhere
  std::string plot;       ///< a chart of all links; empty: none
  bool json = false;
};

/// The messages of an algorithm for one number of ranks. Several jobs share them.
struct CountedMessages {
  Messages messages;
  std::optional<Messages> of_root_0;  ///< if that is another one
  std::vector<Rank> near;             ///< with --relabel

  CountedMessages(const Selection& selection, Rank p, Rank root, bool relabels) : messages(selection, p, root) {
    if (!relabels) return;
    if (root != 0) of_root_0.emplace(selection, p, 0);
    near = near_order(for_labels());
  }
  [[nodiscard]] const Messages& for_labels() const { return of_root_0 ? *of_root_0 : messages; }
};

/// An algorithm on a job.
struct JobTraffic {
  Selection selection;
  std::string unmet_need{};  ///< why the algorithm cannot serve the job; nothing is counted then
  std::int64_t blocks = 1;
  LevelTraffic as_is{};
  std::vector<LevelLink> busiest_of_level{};
  std::optional<NearLabels> near{};
  LevelTraffic relabelled{};
  std::vector<LevelLink> busiest_relabelled{};
};

std::vector<LevelLink> busiest_links(const Messages& messages, const LevelTraffic& traffic, const Levels& levels) {
  std::vector<LevelLink> links;
  links.reserve(static_cast<std::size_t>(levels.depth()));
  for (int level = 0; level < levels.depth(); ++level) links.push_back(busiest(messages, traffic, level));
  return links;
}

JobTraffic traffic_on(const Selection& selection, const CountedMessages& counted, const Levels& levels, Rank root) {
  JobTraffic result{.selection = selection, .blocks = counted.messages.blocks()};
  result.as_is = level_traffic(counted.messages, levels);
  result.busiest_of_level = busiest_links(counted.messages, result.as_is, levels);
  if (counted.near.empty()) return result;
  const Messages& messages = counted.for_labels();
  result.near = near_labels(messages, counted.near, levels, root);
  result.relabelled = level_traffic(messages, levels, &result.near->labels);
  result.busiest_relabelled = busiest_links(messages, result.relabelled, levels);
  return result;
}

double bytes_of(const Flow& flow, const JobTraffic& traffic, Count bytes) {
  return static_cast<double>(flow.blocks) / static_cast<double>(traffic.blocks) * static_cast<double>(bytes);
}

std::string shown_bytes(double bytes) {
  return readable_bytes(static_cast<Count>(std::llround(std::min(bytes, 9e18))));
}

/// "12.3 %" that `now` is less than `before`; negative if it is more, and "12-fold" if it is much more.
std::string saved_percent(double before, double now) {
  if (before <= 0) return "-";
  return now >= 10 * before ? fmt::format("{:.0f}-fold", now / before)
                            : fmt::format("{:.1f} %", 100 * (1 - now / before));
}

std::string link_words(const LevelLink& link, const JobTraffic& traffic, const Levels& levels, Count bytes) {
  return fmt::format("{:.40} {} out, {} in", levels.part_name(link.level, link.part),
                     shown_bytes(bytes_of(link.out, traffic, bytes)), shown_bytes(bytes_of(link.in, traffic, bytes)));
}

/// The table of one job, with the verdict as its last line.
std::string traffic_text(const JobTraffic& traffic, const Levels& levels, const TrafficOptions& o) {
  const bool relabels = traffic.near.has_value();
  std::string text = fmt::format(
      "{}, p = {} on {}, m = {}\n{:<24}{:>8}{:>12}{:>12}", with_params(traffic.selection), levels.size(),
      levels.parts(levels.depth() - 1) == 1 ? "1 host" : fmt::format("{} hosts", levels.parts(levels.depth() - 1)),
      readable_bytes(o.bytes), "messages between", "parts", "messages", "bytes");
  text += relabels ? fmt::format("{:>12}{:>12}{:>10}\n", "relabelled", "bytes", "saved") : "\n";
  for (int level = 0; level <= levels.depth(); ++level) {
    const auto l = static_cast<std::size_t>(level);
    const Flow& flow = traffic.as_is.between[l];
    const double bytes = bytes_of(flow, traffic, o.bytes);
    text +=
        fmt::format("{:<24.24}{:>8}{:>12}{:>12}", level == levels.depth() ? "ranks of a host" : levels.name(level),
                    level == levels.depth() ? levels.size() : levels.parts(level), flow.messages, shown_bytes(bytes));
    if (relabels) {
      const Flow& after = traffic.relabelled.between[l];
      const double now = bytes_of(after, traffic, o.bytes);
      text += fmt::format("{:>12}{:>12}{:>10}", after.messages, shown_bytes(now), saved_percent(bytes, now));
    }
    text += "\n";
  }
  for (int level = 0; level < levels.depth(); ++level) {
    const auto l = static_cast<std::size_t>(level);
    text += fmt::format("busiest of {}: {}", levels.name(level),
                        link_words(traffic.busiest_of_level[l], traffic, levels, o.bytes));
    if (relabels)
      text += fmt::format("\n  relabelled: {}", link_words(traffic.busiest_relabelled[l], traffic, levels, o.bytes));
    text += "\n";
  }
  const double first = bytes_of(traffic.as_is.between.front(), traffic, o.bytes);
  const double all = bytes_of(traffic.as_is.all(), traffic, o.bytes);
  const std::string share = all > 0 ? fmt::format(" of {} ({:.1f} %)", shown_bytes(all), 100 * first / all) : "";
  text += fmt::format("{}{} pass between {}", shown_bytes(first), share, levels.name(0));
  if (relabels) {
    const double now = bytes_of(traffic.relabelled.between.front(), traffic, o.bytes);
    text += fmt::format("; relabelled ({}) {}{}", traffic.near->how, shown_bytes(now),
                        first > 0 ? fmt::format(", {} less", saved_percent(first, now)) : "");
  }
  return text + ".\n";
}

nlohmann::ordered_json flow_as_json(const Flow& flow, const JobTraffic& traffic, Count bytes) {
  return {{"messages", flow.messages}, {"blocks", flow.blocks}, {"bytes", bytes_of(flow, traffic, bytes)}};
}

nlohmann::ordered_json link_as_json(const LevelLink& link, const JobTraffic& traffic, const Levels& levels,
                                    Count bytes) {
  return {{"part", levels.part_name(link.level, link.part)},
          {"out", flow_as_json(link.out, traffic, bytes)},
          {"in", flow_as_json(link.in, traffic, bytes)}};
}

/// With the links of all parts where there is one job. Of many jobs they would be too many.
nlohmann::ordered_json levels_as_json(const LevelTraffic& counted, const std::vector<LevelLink>& busiest,
                                      const JobTraffic& traffic, const Levels& levels, const TrafficOptions& o) {
  auto json = nlohmann::ordered_json::array();
  for (int level = 0; level <= levels.depth(); ++level) {
    const auto l = static_cast<std::size_t>(level);
    nlohmann::ordered_json row = {{"between", level == levels.depth() ? "ranks of a host" : levels.name(level)}};
    row.update(flow_as_json(counted.between[l], traffic, o.bytes));
    if (level < levels.depth()) row["busiest"] = link_as_json(busiest[l], traffic, levels, o.bytes);
    if (level < levels.depth() && o.allocations.size() <= 1) {
      auto links = nlohmann::ordered_json::array();
      for (const LevelLink& link : counted.links) {
        if (link.level == level) links.push_back(link_as_json(link, traffic, levels, o.bytes));
      }
      row["links"] = links;
    }
    json.push_back(row);
  }
  return json;
}

nlohmann::ordered_json traffic_json(const JobTraffic& traffic, const Levels& levels, const TrafficOptions& o) {
  nlohmann::ordered_json json = {{"id", with_params(traffic.selection)}};
  if (!traffic.unmet_need.empty()) {
    json["unmet"] = traffic.unmet_need;
    return json;
  }
  json["blocks"] = traffic.blocks;
  json["levels"] = levels_as_json(traffic.as_is, traffic.busiest_of_level, traffic, levels, o);
  if (!traffic.near) return json;
  auto labels = nlohmann::ordered_json::array();
  for (Rank r = 0; r < levels.size(); ++r) labels.push_back(traffic.near->labels.label(r));
  json["relabelled"] = {{"how", traffic.near->how},
                        {"levels", levels_as_json(traffic.relabelled, traffic.busiest_relabelled, traffic, levels, o)}};
  // Of many jobs the numbers are wanted.
  if (o.allocations.size() <= 1) json["relabelled"]["labels"] = labels;
  return json;
}

/// The places of the ranks of an allocation's file, the first `o.size` of them.
Levels levels_of_file(const std::string& file, const select::SwitchTree* switches, const TrafficOptions& o) {
  return select::levels_from_text(select::read_text_file(file), file, o.cores, switches, o.size);
}

/// The places of the ranks of the job that this process is in, of Slurm or PBS.
Levels levels_of_job(const select::SwitchTree* switches, const TrafficOptions& o) {
  const char* const nodelist = std::getenv("SLURM_JOB_NODELIST");
  if (const char* const file = std::getenv("PBS_NODEFILE"); nodelist == nullptr && file != nullptr)
    return levels_of_file(file, switches, o);
  if (nodelist == nullptr) misuse("--allocation FILE is needed outside of a job of Slurm or PBS");
  const char* const tasks = std::getenv("SLURM_TASKS_PER_NODE");
  const std::string text = select::allocation_of_slurm(nodelist, tasks == nullptr || o.cores_given ? "" : tasks);
  return select::levels_from_text(text, "SLURM_JOB_NODELIST", o.cores, switches, o.size);
}

/// Counts every algorithm on every job. Jobs of equally many ranks share what does not depend on the places.
class TrafficOfJobs {
 public:
  explicit TrafficOfJobs(const TrafficOptions& o) : o_(o) {
    for (const std::string& id : o.ids) selections_.push_back(parse_selection(id));
    for (const Selection& one : selections_) {
      if (o.relabel && !can_relabel(one.collective))
        misuse(fmt::format("the result of {} depends on the order of ranks: leave --relabel out",
                           to_string(one.collective)));
      if (o.relabel && one.params.contains("relabel")) misuse("give --relabel or the parameter relabel, not both");
    }
  }

  [[nodiscard]] std::vector<JobTraffic> of(const Levels& levels) {
    if (levels.size() != p_) counted_.clear();
    p_ = levels.size();
    std::vector<JobTraffic> all;
    for (const Selection& given : selections_) {
      check_root(o_.root, p_, given.collective);
      const std::string unmet = unmet_need(*given.algorithm, p_, {.commutative = true, .idempotent = true});
      if (!unmet.empty()) {
        all.push_back({.selection = given, .unmet_need = unmet});
        continue;
      }
      const Selection selection = with_segment_count(given, p_, o_.bytes);
      auto found = counted_.find(with_params(selection));
      if (found == counted_.end()) {
        found = counted_.try_emplace(with_params(selection), selection, p_, o_.root, o_.relabel).first;
      }
      all.push_back(traffic_on(selection, found->second, levels, o_.root));
    }
    return all;
  }

 private:
  const TrafficOptions& o_;
  std::vector<Selection> selections_;
  Rank p_ = 0;
  std::map<std::string, CountedMessages> counted_;
};

nlohmann::ordered_json job_json(const std::string& file, const Levels& levels, const std::vector<JobTraffic>& all,
                                const TrafficOptions& o) {
  nlohmann::ordered_json json = {{"allocation", file}, {"p", levels.size()}, {"bytes", o.bytes}};
  auto parts = nlohmann::ordered_json::array();
  for (int level = 0; level < levels.depth(); ++level)
    parts.push_back({{"level", levels.name(level)}, {"parts", levels.parts(level)}});
  json["parts"] = parts;
  auto algorithms = nlohmann::ordered_json::array();
  for (const JobTraffic& one : all) algorithms.push_back(traffic_json(one, levels, o));
  json["algorithms"] = algorithms;
  return json;
}

/// A line of JSON for each job, those with fewest ranks first.
void print_many_jobs(const TrafficOptions& o, const select::SwitchTree* switches) {
  std::vector<std::pair<Levels, std::string>> jobs;
  for (const std::string& file : o.allocations) {
    try {
      jobs.emplace_back(levels_of_file(file, switches, o), file);
    } catch (const Error& error) {
      print(nlohmann::ordered_json{{"allocation", file}, {"error", error.what()}}.dump() + "\n");
    }
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  TrafficOfJobs traffic(o);
  for (const auto& [levels, file] : jobs) print(job_json(file, levels, traffic.of(levels), o).dump() + "\n");
}

/// A file of schedules is an algorithm (docs/lab/formats.md): the relabelled ones serve by it in the job.
void write_relabelled(const TrafficOptions& o, const JobTraffic& traffic, Rank p) {
  constexpr std::size_t most_bytes = std::size_t{16} << 20;  // of a file that is read
  const Relabelling& labels = traffic.near->labels;
  const Selection& selection = traffic.selection;
  std::string text;
  for (Rank r = 0; r < p; ++r) {
    const Shape shape{.size = p, .rank = labels.label(r), .params = selection.params};
    text += to_text(relabelled(build_schedule(*selection.algorithm, selection.collective, shape), labels)) + "\n";
    if (text.size() > most_bytes)
      throw Error(ErrorCode::unsupported, fmt::format("the schedules of {} take more than 16 MiB for p = {}, the most "
                                                      "that is read from a file of them",
                                                      with_params(selection), p));
  }
  write_file(o.schedules, text);
}

std::string text_of_all(const std::vector<JobTraffic>& all, const Levels& levels, const TrafficOptions& o) {
  std::string text;
  for (const JobTraffic& one : all) {
    if (!text.empty()) text += "\n";
    text += one.unmet_need.empty()
                ? traffic_text(one, levels, o)
                : fmt::format("{} {}, and p = {}.\n", with_params(one.selection), one.unmet_need, levels.size());
  }
  return text;
}

void check_traffic_options(const TrafficOptions& o) {
  if (o.allocations.size() > 1 && !o.json) misuse("several allocations need --json: they give a line for each");
  if (o.allocations.size() > 1 && !o.plot.empty()) misuse("--plot is for one allocation");
  if (o.schedules.empty()) return;
  if (!o.relabel) misuse("--schedules is for the relabelled schedules: give --relabel");
  if (o.allocations.size() > 1 || o.ids.size() > 1) misuse("--schedules is for one algorithm and one allocation");
}

void show_traffic(const TrafficOptions& o) {
  check_traffic_options(o);
  std::optional<select::SwitchTree> switches;
  if (!o.topology.empty()) switches.emplace(select::read_text_file(o.topology), o.topology);
  const select::SwitchTree* const tree = switches ? &*switches : nullptr;
  if (o.allocations.size() > 1) return print_many_jobs(o, tree);
  const std::optional<Chart> chart = chart_for(o.plot);
  const Levels levels = o.allocations.empty() ? levels_of_job(tree, o) : levels_of_file(o.allocations.front(), tree, o);
  const std::vector<JobTraffic> all = TrafficOfJobs(o).of(levels);
  if (!o.schedules.empty()) {
    if (const JobTraffic& one = all.front(); !one.unmet_need.empty())
      throw Error(ErrorCode::unsupported, with_params(one.selection) + " " + one.unmet_need);
    write_relabelled(o, all.front(), levels.size());
  }
  const std::string json =
      o.json || chart
          ? job_json(o.allocations.empty() ? "the present job" : o.allocations.front(), levels, all, o).dump(2) + "\n"
          : "";
  print(o.json ? json : text_of_all(all, levels, o));
  if (!chart) return;
  const Interruptible interruptible;
  chart->draw_json(json);
}

}  // namespace

void add_traffic(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<TrafficOptions>();
  CLI::App* const command =
      app.add_subcommand("traffic", "Count what an algorithm sends between the groups, switches and hosts of a job");
  command->add_option("ids", options->ids, "COLLECTIVE/ALGORITHM[:param=value,...]; several may be given")
      ->type_name("ID")
      ->required();
  command
      ->add_option(
          "--allocation", options->allocations,
          "The hosts of the ranks (forms below); without it those of the job of Slurm or PBS. Several need --json")
      ->type_name("FILE");
  command->add_option("--topology", options->topology, "Slurm's topology.conf: the switches above the hosts")
      ->type_name("FILE");
  command->add_option("-p,--ranks", options->size, "The first ranks of the allocation; all without it")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20));
  CLI::Option* const cores =
      command->add_option("--cores", options->cores, "Ranks on a host where the file does not say it");
  cores->transform(whole_number())->check(options::between(Rank{1}, Rank{1} << 20))->capture_default_str();
  command->add_option("-b,-m,--bytes", options->bytes, "Size of the vector; Ki, Mi, Gi may follow the number")
      ->transform(number_of_bytes())
      ->check(options::between(Count{0}, Count{1} << 50))
      ->default_str("1Mi");
  command->add_option("--root", options->root, "The root of a rooted collective")->transform(whole_number());
  command->add_flag("--relabel", options->relabel,
                    "Also with the ranks relabelled, so that fewer bytes pass between the first of the levels");
  command->add_option("--schedules", options->schedules, "Write the relabelled schedules, which serve as file:FILE")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "For programs; of one allocation with the labels of ranks, and all links");
  add_plot_option(*command, options->plot);
  command->footer(
      "Lines of an allocation: nid[001000-001003] or nid001000:8 (8 ranks on it), x1000c0s0b0n0 (/etc/cray/xname), or "
      "group1/switch4/node7.\n"
      "Messages and blocks are exact. A block has the same share of the vector as any other.\n"
      "Examples:\n"
      "  circoll traffic allreduce/rabenseifner --topology /etc/slurm/topology.conf    # in a job of Slurm\n"
      "  circoll traffic allgather/ring allgather/swing --allocation hosts.txt --cores 64 -b 64Mi --relabel\n"
      "  circoll traffic allreduce/rabenseifner --allocation hosts.txt --relabel --schedules allreduce.txt");
  command->callback([options, cores] {
    options->cores_given = cores->count() > 0;
    show_traffic(*options);
  });
}

}  // namespace circoll::cli
