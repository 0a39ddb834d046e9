// circoll tune --for: the campaign that a report asks for, planned, and measured in shards.
#include "for_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "circoll/circoll.h"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "compare/paired_runs.hpp"
#include "facts/hash.hpp"
#include "facts/text.hpp"
#include "launcher.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "processors.hpp"
#include "select/text_file.hpp"
#include "shard/shard_file.hpp"
#include "tune/profile_file.hpp"

namespace circoll::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// To tell reports of one name apart.
std::string hash_of(const std::string& text) { return fmt::format("{:016x}", Hash().add(text).value()); }

const MpiLibrary* mpi_of(const TuneForOptions& options, const ProgramReport& report) {
  if (const MpiLibrary* const named = mpi_named(options.mpi)) return named;
  for (const MpiLibrary* const library : mpi_implementations) {
    if (report.mpi.find(library->title) != std::string::npos) return library;
  }
  throw Error(ErrorCode::unsupported,
              fmt::format("{} is of '{}', which is no MPI that Circoll knows; say which it is: --mpi openmpi",
                          report.source, report.mpi));
}

/// Options whose values were left to this machine.
TuneForOptions completed(TuneForOptions options, const ProgramReport& report) {
  options.mpi = mpi_of(options, report)->id;
  options.ranks = report.ranks;
  if (options.ranks_per_node == 0) options.ranks_per_node = own_processors().usable();
  if (options.most_ranks == 0) options.most_ranks = options.nodes * options.ranks_per_node;
  if (!options.machine.empty()) options.campaign.machine = measured::read_machine_file(options.machine);
  options.campaign.op = {.op = parse_op(options.op), .type = parse_type(options.type)};
  options.campaign.most_ranks = options.most_ranks;
  options.campaign.ranks_per_node = options.ranks_per_node;
  options.campaign.crowded = options.oversubscribe;
  // Where ranks take turns on a processor they cannot all wait for a time. The choice is made here, once, since
  // launches that start in different ways are not put together.
  if (options.sync == "auto") options.sync = options.oversubscribe ? "barrier" : "clock";
  return options;
}

std::string cell_name(const CampaignCell& cell) {
  std::string name = fmt::format("{} on {} ranks", to_string(cell.collective), cell.p);
  if (cell.bytes > 0) name += ", " + readable_bytes(cell.measured_bytes());
  return name;
}

/// The plan, for people.
std::string plan_text(const TuneForOptions& options, const PlannedCampaign& planned) {
  const Campaign& campaign = planned.campaign;
  constexpr std::size_t most_left_out = 10;
  std::string text;
  for (const CampaignCell& cell : campaign.cells) {
    text += fmt::format("{:>9}  {:<44} {} candidates\n", readable_time(cell.program_s), cell_name(cell),
                        cell.candidates.size());
  }
  for (std::size_t i = 0; i < std::min(campaign.left_out.size(), most_left_out); ++i) {
    const LeftOut& one = campaign.left_out[i];
    text +=
        fmt::format("{:>9}  {:<44} left out: {}\n", readable_time(one.cell.program_s), cell_name(one.cell), one.why);
  }
  if (campaign.left_out.size() > most_left_out) {
    text += fmt::format("            and {} more are left out\n", campaign.left_out.size() - most_left_out);
  }
  text += fmt::format("{} kinds of calls, {:.0f} % of the time in collectives; {} launches each, about {} in all\n",
                      campaign.cells.size(), campaign.program_s > 0 ? 100 * campaign.covered_s / campaign.program_s : 0,
                      options.campaign.launches, readable_time(campaign.estimate_s));
  return text;
}

/// Starts the bench.
class Bench {
 public:
  explicit Bench(const TuneForOptions& options) : options_(options) {
    const MpiLibrary& mpi = *mpi_named(options.mpi);
    for (Launcher& launcher : find_launchers()) {
      if (launcher.mpi == &mpi) launcher_ = std::move(launcher);
    }
    if (options.launcher.empty()) {
      if (launcher_.mpi == nullptr) {
        throw Error(ErrorCode::unsupported, fmt::format("no launcher of {} is on PATH; give one: --launcher 'srun -n "
                                                        "{{np}}'",
                                                        mpi.title));
      }
      if (const std::string why = refusal(launcher_); !why.empty()) throw Error(ErrorCode::unsupported, why);
    }
    const auto bench = options.bench.empty() ? find_bench(mpi) : std::optional(options.bench);
    if (!bench) {
      throw Error(ErrorCode::unsupported, fmt::format("no circoll-bench.{} is installed; give one: --bench", mpi.id));
    }
    bench_ = *bench;
  }

  /// The MPI library and its version, as far as its launcher says it.
  [[nodiscard]] std::string mpi() const {
    return launcher_.mpi != nullptr ? library_of(launcher_) : std::string(mpi_named(options_.mpi)->title);
  }

  /// Measures one cell. The table as JSON, or how the launch ended.
  [[nodiscard]] std::string measure(const CampaignCell& cell, const CampaignItem& item, const std::string& file) const {
    std::vector<std::string> program{bench_};
    const auto add = [&](const char* name, const auto& value) {
      program.insert(program.end(), {name, std::string(value)});
    };
    add("--collective", to_string(cell.collective));
    add("--algorithm", fmt::format("{}", fmt::join(cell.candidates, ",")));
    add("--bytes", std::to_string(cell.measured_bytes()));
    add("--type", to_string(options_.campaign.op.type));
    add("--op", to_string(options_.campaign.op.op));
    add("--seconds", fmt::format("{:g}", options_.campaign.seconds));
    add("--sync", options_.sync);
    // As in the program: other work between calls, buffers of its own, and ranks that do not come at once.
    add("--buffers", "rewrite");
    add("--between", fmt::format("{:.9f}", cell.between_s));
    if (options_.sync == "clock") add("--spread", fmt::format("{:.9f}", cell.spread_s));
    add("--seed", std::to_string(options_.seed + static_cast<std::uint64_t>(item.launch)));
    add("--json", file);
    std::vector<std::string> command;
    if (options_.launcher.empty()) {
      command = launch_command(launcher_, cell.p, {.oversubscribe = options_.oversubscribe}, program);
    } else {
      command = launcher_words(options_.launcher, cell.p);
      command.insert(command.end(), program.begin(), program.end());
    }
    std::error_code none;
    fs::remove(file, none);
    const double limit_s = 60 + 20 * launch_seconds(cell, options_.campaign);
    const Ending ending = run_program(
        {.arguments = command, .limit = std::chrono::milliseconds(static_cast<std::int64_t>(limit_s * 1e3))});
    if (!ending.good()) return described(ending);
    std::string json = fs::exists(file) ? select::read_text_file(file) : "the bench has written nothing to " + file;
    fs::remove(file, none);
    return json;
  }

 private:
  const TuneForOptions& options_;
  Launcher launcher_{};
  std::string bench_;
};

ShardedWork work_of(const TuneForOptions& options, const PlannedCampaign& planned, const std::string& mpi) {
  const CampaignOptions& campaign = options.campaign;
  return {.command = "tune --for",
          .arguments = {{"report", fs::path(options.report).filename().string()},
                        {"report_hash", planned.report_hash},
                        {"program", planned.program},
                        {"program_s", fmt::format("{:.9g}", planned.campaign.program_s)},
                        {"mpi", mpi},
                        {"launcher", options.launcher},
                        {"machine", campaign.machine.name},
                        {"type", options.type},
                        {"op", options.op},
                        {"sync", options.sync},
                        {"most_ranks", std::to_string(options.most_ranks)},
                        {"ranks_per_node", std::to_string(options.ranks_per_node)},
                        {"oversubscribe", options.oversubscribe ? "yes" : "no"},
                        {"time", fmt::format("{:g}", campaign.limit_s)},
                        {"launches", std::to_string(campaign.launches)},
                        {"candidates", std::to_string(campaign.candidates)},
                        {"candidate_seconds", fmt::format("{:g}", campaign.seconds)},
                        {"margin", fmt::format("{:g}", options.tune.margin)}},
          .version = circoll_version(),
          .seed = options.seed,
          .items = static_cast<std::int64_t>(planned.campaign.cells.size()) * campaign.launches};
}

/// Measures the items of a shard. Without a shard the time limit is kept by the clock: launches of all cells come one
/// after another, so that fewer are left if it ends early.
void measure(const TuneForOptions& options, const PlannedCampaign& planned, const std::string& path,
             const std::string& output) {
  const Bench bench(options);
  const Shard shard = options.shard.empty() ? Shard{} : parse_shard(options.shard);
  const ShardedWork work = work_of(options, planned, bench.mpi());
  const auto items = campaign_items(planned.campaign.cells.size(), options.campaign.launches, options.seed);
  const auto [first, last] = items_of(shard, work.items);
  ShardFile file(path, work, shard);
  if (file.complete()) fmt::print(stderr, "{}: measured before; remove it to measure anew\n", path);
  const auto begin = Clock::now();
  const auto elapsed_s = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  bool good = file.parts() > 0;
  bool stopped = false;
  std::int64_t measured = 0;
  const Interruptible interruptible;
  for (std::int64_t number = first; number < last && !file.complete() && !stopped; ++number) {
    if (file.has(number)) continue;
    const CampaignItem& item = items[static_cast<std::size_t>(number)];
    const CampaignCell& cell = planned.campaign.cells[item.cell];
    const std::string json = bench.measure(cell, item, fs::absolute(path + ".bench").string());
    if (interrupted()) {
      file.save();
      throw Error(ErrorCode::internal,
                  fmt::format("interrupted; {} has what was measured, and the same command goes on", path));
    }
    const bool failed = !json.starts_with("{");
    if (failed && !good) throw Error(ErrorCode::unsupported, fmt::format("{}: the bench {}", cell_name(cell), json));
    good = true;
    file.add(number, campaign_part(cell, item, json));
    ++measured;
    fmt::print(stderr, "{} of {}  {:>8}  {}{}\n", number - first + 1, last - first, readable_time(elapsed_s()),
               cell_name(cell), failed ? ": " + json : "");
    stopped = options.shard.empty() && number + 1 < last && elapsed_s() > options.campaign.limit_s;
  }
  if (!file.complete() && !stopped) file.finish();
  if (stopped) {
    file.save();
    fmt::print(stderr, "the time is over after {} of {} launches; the same command measures the rest\n", measured,
               last - first);
  }
  if (options.shard.empty()) {
    const ShardResult result = shard_from_json(select::read_text_file(path), path);
    finish_campaign({result.parts.begin(), result.parts.end()}, work, output, &options);
  } else {
    print(fmt::format("{}: shard {}, {} launches\n", path, to_string(shard), last - first));
  }
}

/// Says it if a job is asked for that has more ranks than the communicators of the report.
void warn_of_few_ranks(const TuneForOptions& given, const TuneForOptions& options, const Campaign& campaign) {
  if (given.nodes == 1 && given.ranks_per_node == 0) return;  // nobody asked for a size
  Rank ranks = 0;
  for (const CampaignCell& cell : campaign.cells) ranks = std::max(ranks, cell.p);
  const Rank asked = options.nodes * options.ranks_per_node;
  if (ranks >= asked) return;
  fmt::print(stderr,
             "circoll: the report has communicators of at most {} ranks, so the job starts {} and not {}; "
             "make the report with {} ranks\n",
             ranks, ranks, asked, asked);
}

}  // namespace

void tune_for_report(const TuneForOptions& given, const std::string& output) {
  const std::string text = select::read_text_file(given.report);
  PlannedCampaign planned{.report = report_from_json(text, given.report), .campaign = {}, .report_hash = hash_of(text)};
  const TuneForOptions options = completed(given, planned.report);
  planned.program = options.name.empty() ? planned.report.program : options.name;
  if (planned.program.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} does not name its program, as reports of older versions do not; give --program NAME",
                            given.report));
  }
  planned.campaign = plan_campaign(planned.report, options.campaign);
  fmt::print(stderr, "{}", plan_text(options, planned));
  if (planned.campaign.cells.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("nothing of {} can be measured here within {}", given.report,
                                                         readable_time(options.campaign.limit_s)));
  }
  if (!options.job.empty()) {
    if (!options.shard.empty()) throw Error(ErrorCode::invalid_argument, "a script has all shards; leave out --shard");
    if (!options.program.empty()) {
      throw Error(ErrorCode::invalid_argument, "a job does not run the program; leave out what stands behind --");
    }
    warn_of_few_ranks(given, options, planned.campaign);
    print(job_script(options, planned, output));
    return;
  }
  if (!options.shard.empty()) {
    if (output.empty()) throw Error(ErrorCode::invalid_argument, "--shard needs -o FILE for its results");
    measure(options, planned, output, "");
    return;
  }
  require_profile_file(output);
  if (!output.empty()) return measure(options, planned, output + ".measured", output);
  const std::string kept = fmt::format("circoll-tune.{}.measured", planned.report_hash.substr(0, 8));
  measure(options, planned, kept, "");
  fs::remove(kept);
}

std::shared_ptr<TuneForOptions> add_tune_for(CLI::App& command) {
  auto options = std::make_shared<TuneForOptions>();
  options->campaign.machine = default_machine();
  const auto add = [&](const char* name, auto& value, const char* what) {
    return command.add_option(name, value, what)->group("Tuning for a program (--for)");
  };
  add("--for", options->report, "A report of CIRCOLL_REPORT=FILE.json: measure the calls that it has");
  add("--program", options->name, "The program's name, if the report has none");
  add("--time", options->campaign.limit_s,
      "Seconds of measurements at most, and of runs of the program, which take 60 at most")
      ->check(options::above_zero())
      ->capture_default_str();
  add("--candidates", options->campaign.candidates,
      "Algorithms that the model names, besides today's, native and what ran")
      ->check(options::at_least(1))
      ->capture_default_str();
  add("--candidate-seconds", options->campaign.seconds, "Seconds for each candidate in a launch")
      ->check(options::above_zero())
      ->capture_default_str();
  add("--launcher", options->launcher,
      "Starts the ranks in place of the mpirun on PATH, also with --here; {np} is their number");
  add("--bench", options->bench, "circoll-bench of that MPI, if it is not installed beside circoll");
  add("--machine", options->machine, "Machine file of the model that names candidates");
  add("--type", options->type, "Element type")->transform(type_name())->capture_default_str();
  add("--op", options->op, "Operator of reductions")->transform(op_name())->capture_default_str();
  add("--sync", options->sync, "As of circoll-bench; auto is clock, and barrier with --oversubscribe")
      ->check(CLI::IsMember({"auto", "clock", "barrier"}))
      ->capture_default_str();
  add("--seed", options->seed, "Seed of the order of launches")
      ->check(options::between(0, std::int64_t{1} << 62))
      ->capture_default_str();
  add("--most-ranks", options->most_ranks, "Ranks that can be started (default: the processors)")
      ->check(options::at_least(1));
  add("--nodes", options->nodes, "Nodes that they are started on")->check(options::at_least(1))->capture_default_str();
  add("--ranks-per-node", options->ranks_per_node, "Ranks on a node (default: its processors)")
      ->check(options::at_least(1));
  command.add_flag("--oversubscribe", options->oversubscribe, "Start more ranks than there are processors")
      ->group("Tuning for a program (--for)");
  add("--shard", options->shard, "Measure this part only, I of N, into the file of -o; see circoll merge");
  add("--print-job", options->job, "Print a script that measures in shards, and measure nothing")
      ->check(CLI::IsMember({"slurm", "local"}));
  add("--shards", options->shards, "Shards of that script (default: one for each launch)")->check(options::at_least(1));
  return options;
}

void read_shared_options(const CLI::App& command, TuneForOptions& options) {
  if (command.count("--mpi") > 0) options.mpi = command.get_option("--mpi")->as<std::string>();
  if (command.count("--launches") > 0) options.campaign.launches = command.get_option("--launches")->as<int>();
}

}  // namespace circoll::cli
