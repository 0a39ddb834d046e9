// circoll execute: run an algorithm in this process and check the result against the definition.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "exec/local/job.hpp"
#include "execute_table.hpp"
#include "options/ranges.hpp"
#include "oracle/oracle.hpp"
#include "schedule_file.hpp"

namespace circoll::cli {
namespace {

struct ExecuteOptions {
  std::string id;
  Rank ranks = 4;
  Count count = 1000;
  std::vector<Count> counts;
  std::string type = "float64";
  std::string op = "sum";
  Rank root = 0;
  std::int64_t segments = 0;
  bool in_place = false;
  bool threads = false;
  bool single_thread = false;
  bool json = false;
  bool table = false;
};

/// The choice of the command line, completed: the one that really runs.
Selection selection_of(const ExecuteOptions& options, const local::Job& job) {
  Selection selection = parse_selection(options.id);
  if (options.segments > 0) {
    // Parsed once more, so that the declared range is checked.
    const std::string given = options.id.find(':') == std::string::npos ? ":" : ",";
    selection = parse_selection(options.id + given + "segments=" + std::to_string(options.segments));
  }
  // The counts of an alltoallv are those of all ranks, but then no size decides.
  const Amounts amounts = Amounts::of_counts(selection.collective, job.size, job.counts, job.element_bytes());
  return resolve(selection,
                 facts_of(selection.collective, job.size, amounts.vector_bytes(), job.op.predefined(), job.type));
}

/// The job of the command line, but for what an id or a file says.
local::Job job_of(const ExecuteOptions& options, Collective collective) {
  local::Job job;
  job.collective = collective;
  job.size = options.ranks;
  job.root = options.root;
  job.counts = options.counts.empty() ? std::vector<Count>{options.count} : options.counts;
  if (!traits_of(job.collective).moves_data) job.counts = {0};
  job.type = *type_from_string(options.type);
  job.op = *op_from_string(options.op);
  job.in_place = options.in_place;
  job.fill = [type = job.type](Rank rank, std::span<std::byte> bytes) { oracle::fill(type, rank, bytes); };
  return job;
}

/// The outcome of an execution, for people and programs.
struct Report {
  std::string id{};
  Params params{};
  std::string wrong{};
  double seconds = 0;
};

void print_report(const ExecuteOptions& options, const local::Job& job, const Report& report) {
  if (options.json) {
    nlohmann::ordered_json params = nlohmann::ordered_json::object();
    for (const auto& [name, value] : report.params) params[name] = value;
    nlohmann::ordered_json result{{"algorithm", report.id},
                                  {"params", params},
                                  {"p", job.size},
                                  {"root", job.root},
                                  {"counts", job.counts},
                                  {"type", to_string(job.type)},
                                  {"op", is_reducing(job.collective) ? to_string(job.op.predefined()) : ""},
                                  {"in_place", job.in_place},
                                  {"mode", options.threads ? "threads" : "single_thread"},
                                  {"time_s", report.seconds},
                                  {"correct", report.wrong.empty()},
                                  {"error", report.wrong}};
    print(result.dump(2) + "\n");
    return;
  }
  std::string name = report.id;
  for (const auto& [key, value] : report.params) name += fmt::format(" {}={}", key, value);
  print(fmt::format("{}  p={}  count={}  {}{}  {:.0f} us ({}, plans built)  {}\n", name, job.size,
                    fmt::join(job.counts, ","), to_string(job.type),
                    is_reducing(job.collective) ? " " + std::string(to_string(job.op.predefined())) : "",
                    report.seconds * 1e6, options.threads ? "threads" : "one thread",
                    report.wrong.empty() ? "correct" : "WRONG: " + report.wrong));
}

/// True if the result of a file's schedules is right.
bool execute_file(const ExecuteOptions& options) {
  const ProvenFile proven = read_proven_file(options.id);
  const Schedule& first = proven.file.first();
  ExecuteOptions of_file = options;
  of_file.ranks = first.shape.size;
  of_file.root = first.shape.root;
  local::Job job = job_of(of_file, first.collective);
  job.in_place = first.shape.in_place && traits_of(first.collective).in_place_schedule;
  if (is_reducing(job.collective)) {
    const Op op = job.op.predefined();
    require_fits(proven, {.commutative = is_commutative(op), .idempotent = is_idempotent(op)});
  }
  const local::JobResult outcome = local::execute_schedules(
      job, proven.file.ranks, options.threads ? local::Mode::threads : local::Mode::single_thread);
  const Report report{.id = first.id,
                      .params = first.shape.params,
                      .wrong = oracle::check(job, outcome, false),
                      .seconds = outcome.seconds};
  print_report(options, job, report);
  return report.wrong.empty();
}

/// True if the result is right.
bool execute(const ExecuteOptions& options) {
  if (names_file(options.id)) return execute_file(options);
  const local::Job job = job_of(options, parse_selection(options.id).collective);
  const Selection selection = selection_of(options, job);
  const local::Mode mode = options.threads ? local::Mode::threads : local::Mode::single_thread;
  const local::JobResult outcome = local::execute_all(job, selection, mode);
  const Report report{.id = selection.id(),
                      .params = selection.params,
                      .wrong = oracle::check(job, outcome, selection.algorithm->guarantees.same_bits),
                      .seconds = outcome.seconds};
  print_report(options, job, report);
  return report.wrong.empty();
}

}  // namespace

void add_execute(CLI::App& app, Context& context) {
  auto options = std::make_shared<ExecuteOptions>();
  CLI::App* command =
      app.add_subcommand("execute", "Run an algorithm in this process, without MPI, and check its result");
  CLI::Option* id =
      command->add_option("id", options->id, "Algorithm, as in 'circoll list': COLLECTIVE/NAME; or a file of schedules")
          ->type_name("ID");
  command->add_option("-p,--ranks", options->ranks, "Number of ranks")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20))
      ->capture_default_str();
  CLI::Option* count =
      command->add_option("-n,--count", options->count, "Elements of the vector, or of each rank's block")
          ->transform(whole_number())
          ->capture_default_str();
  command
      ->add_option(
          "--counts", options->counts,
          "Elements of each rank's block: p numbers, comma-separated; alltoallv: p * p, row s for what rank s sends")
      ->delimiter(',')
      ->transform(whole_number())
      ->excludes(count);
  command->add_option("-t,--type", options->type, "Element type")->transform(type_name())->capture_default_str();
  command->add_option("-o,--op", options->op, "Operator, for reductions")->transform(op_name())->capture_default_str();
  command->add_option("-r,--root", options->root, "Root")->transform(whole_number())->capture_default_str();
  command->add_option("--segments", options->segments, "Segments, for pipelined algorithms")
      ->transform(whole_number())
      ->check(options::at_least(1));
  command->add_flag("--in-place", options->in_place, "As with MPI_IN_PLACE");
  CLI::Option* threads = command->add_flag("--threads", options->threads, "Every rank in a thread of its own");
  command->add_flag("--single-thread", options->single_thread, "Ranks take turns in one thread (default)")
      ->excludes(threads);
  command->add_flag("--json", options->json, "As JSON");
  command
      ->add_flag("--table", options->table,
                 "Time the default algorithm of every collective at three sizes, ranks as threads")
      ->excludes(id);
  command->footer(
      "Examples:\n"
      "  circoll execute allreduce/circulant_optimal -p 1000 --count 10000 --type int64\n"
      "  circoll execute allgatherv/circulant_optimal -p 3 --counts 5,0,7 --threads\n"
      "  circoll execute --table -p 4\n"
      "Exit codes: 0 correct, 1 wrong result, 2 misuse.");
  command->callback([options, command, &context] {
    refuse_for_file(options->id, *command, {"--ranks", "--root", "--segments", "--in-place"});
    if (options->table) {
      if (!print_execute_table(options->ranks, options->json)) context.exit_code = exit_failure;
      return;
    }
    if (options->id.empty()) throw Error(ErrorCode::invalid_argument, "execute needs an algorithm id, or --table");
    if (!execute(*options)) context.exit_code = exit_failure;
  });
}

}  // namespace circoll::cli
