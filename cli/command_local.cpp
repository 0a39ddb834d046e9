// circoll local: run an algorithm in this process and check the result against the definition.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "circoll/collectives.hpp"
#include "circoll/ops.hpp"
#include "circoll/select.hpp"
#include "commands.hpp"
#include "exec/local/job.hpp"
#include "local_table.hpp"
#include "oracle/oracle.hpp"

namespace circoll::cli {
namespace {

struct LocalOptions {
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
Selection selection_of(const LocalOptions& options, const local::Job& job) {
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

local::Job job_of(const LocalOptions& options) {
  local::Job job;
  job.collective = parse_selection(options.id).collective;
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

/// True if the result is right.
bool execute(const LocalOptions& options) {
  const local::Job job = job_of(options);
  const Selection selection = selection_of(options, job);
  const local::Mode mode = options.threads ? local::Mode::threads : local::Mode::single_thread;
  const local::Outcome outcome = local::execute_all(job, selection, mode);
  const std::string wrong = oracle::check(job, outcome, selection.algorithm->guarantees.same_bits);
  if (options.json) {
    nlohmann::ordered_json params = nlohmann::ordered_json::object();
    for (const auto& [name, value] : selection.params) params[name] = value;
    nlohmann::ordered_json result{{"algorithm", selection.id()},
                                  {"params", params},
                                  {"p", job.size},
                                  {"root", job.root},
                                  {"counts", job.counts},
                                  {"type", to_string(job.type)},
                                  {"op", is_reducing(job.collective) ? to_string(job.op.predefined()) : ""},
                                  {"in_place", job.in_place},
                                  {"mode", options.threads ? "threads" : "single_thread"},
                                  {"time_s", outcome.seconds},
                                  {"correct", wrong.empty()},
                                  {"error", wrong}};
    print(result.dump(2) + "\n");
  } else {
    std::string name = selection.id();
    for (const auto& [key, value] : selection.params) name += fmt::format(" {}={}", key, value);
    print(fmt::format("{}  p={}  count={}  {}{}  {:.0f} us ({}, plans built)  {}\n", name, job.size,
                      fmt::join(job.counts, ","), to_string(job.type),
                      is_reducing(job.collective) ? " " + std::string(to_string(job.op.predefined())) : "",
                      outcome.seconds * 1e6, options.threads ? "threads" : "one thread",
                      wrong.empty() ? "correct" : "WRONG: " + wrong));
  }
  return wrong.empty();
}

}  // namespace

void add_local(CLI::App& app, Context& context) {
  auto options = std::make_shared<LocalOptions>();
  CLI::App* command =
      app.add_subcommand("local", "Run an algorithm in this process, without MPI, and check its result");
  CLI::Option* id = command->add_option("id", options->id, "Algorithm, as in 'circoll list': COLLECTIVE/NAME");
  command->add_option("-p,--ranks", options->ranks, "Number of ranks")
      ->transform(whole_number())
      ->check(CLI::Range(Rank{1}, Rank{1} << 20))
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
      ->check(CLI::PositiveNumber);
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
      "  circoll local allreduce/circulant_optimal -p 1000 --count 10000 --type int64\n"
      "  circoll local allgatherv/circulant_optimal -p 3 --counts 5,0,7 --threads\n"
      "  circoll local --table -p 4\n"
      "Exit codes: 0 correct, 1 wrong result, 2 misuse.");
  command->callback([options, &context] {
    if (options->table) {
      if (!print_local_table(options->ranks, options->json)) context.exit_code = exit_failure;
      return;
    }
    if (options->id.empty()) throw Error(ErrorCode::invalid_argument, "local needs an algorithm id, or --table");
    if (!execute(*options)) context.exit_code = exit_failure;
  });
}

}  // namespace circoll::cli
