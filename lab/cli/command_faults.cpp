// circoll faults tells what survivors hold when ranks fail, and ranks algorithms by what they lose.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "chart.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/select.hpp"
#include "cli/faults/failures.hpp"
#include "cli/lab_commands.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "schedule_file.hpp"
#include "show/picture.hpp"

namespace circoll::cli {
namespace {

struct FaultsOptions {
  std::string what;
  std::string failed = "all";
  std::string round = "all";
  std::string keep = "buf";
  std::string picture;
  std::string plot;  ///< a chart of the failures; empty: none
  std::string machine_file;
  Count bytes = 1 << 20;
  FailureRequest request{};
  bool json = false;
  bool page = false;
  bool repair = false;
};

std::int64_t number_in(const std::string& text, std::string_view option) {
  const auto number = parse_number(text);
  if (!number) misuse(fmt::format("{}: '{}' is neither a number nor 'all'", option, text));
  return *number;
}

Keep keep_of(const std::string& name) {
  for (const Keep keep : {Keep::live, Keep::buf, Keep::keep, Keep::log}) {
    if (name == to_string(keep)) return keep;
  }
  misuse(fmt::format("--keep is live, buf, keep or log, not '{}'", name));
}

void read_failures(FaultsOptions& o) {
  FailureRequest& request = o.request;
  request.keep = keep_of(o.keep);
  if (o.failed == "all") {
    if (request.size < 2) misuse("a rank may fail if another survives: -p 2 or more");
    for (Rank f = 0; f < request.size; ++f) request.failures.push_back({f});
  } else {
    request.failures.emplace_back();
    for (const std::string& rank : split_list(o.failed)) request.failures.back().push_back(number_in(rank, "--failed"));
  }
  if (o.round != "all") {
    const std::int64_t k = number_in(o.round, "--round");
    if (k < 0 || k > 1 << 20) misuse(fmt::format("--round {}: no schedule has as many rounds", k));
    request.rounds = {static_cast<std::uint32_t>(k)};
  }
}

void rank_algorithms_of(const FaultsOptions& o, Collective collective) {
  if (o.failed != "all" || o.round != "all" || !o.picture.empty() || !o.plot.empty() || o.request.orders || o.repair)
    misuse(
        "--failed, --round, --orders, --repair, --picture and --plot are about one algorithm: name it, as in "
        "allreduce/ring");
  const std::vector<LossSummary> ranking = rank_by_losses(collective, o.request);
  print(o.json ? losses_json(collective, o.request, ranking) : losses_table(collective, o.request, ranking));
}

void repairs(const FaultsOptions& o) {
  if (!o.plot.empty()) misuse("--plot draws failures: leave out --repair, whose messages --picture draws");
  if (o.request.orders || o.request.ahead) misuse("--repair is about the ends of rounds: without --orders and --ahead");
  const Machine machine = o.machine_file.empty() ? default_machine() : measured::read_machine_file(o.machine_file);
  const std::vector<WayOn> ways = find_ways_on(o.request, o.bytes, machine);
  if (o.picture.empty()) {
    print(o.json ? ways_on_json(o.request, o.bytes, machine, ways) : ways_on_table(o.request, o.bytes, machine, ways));
    return;
  }
  if (ways.size() != 1) misuse("a drawing shows one repair: give --failed and --round");
  const Repair& repair = ways.front().repair;
  if (repair.ranks.empty()) throw Error(ErrorCode::unsupported, "there is no repair to draw: " + repair.why);
  write_file(o.picture, to_svg(repair.ranks));
}

void faults(FaultsOptions& o) {
  if (o.page) {
    if (!o.what.empty()) misuse("--page is about all algorithms: name none");
    print(faults_page());
    return;
  }
  if (o.what.empty()) misuse("an id or a collective is needed; see --help");
  FailureRequest& request = o.request;
  const bool from_file = names_file(o.what);
  if (from_file) {
    ProvenFile proven = read_proven_file(o.what);
    request.idempotent = proven.proof.claims.needs.idempotent;
    request.schedules = std::move(proven.file.ranks);
    const Schedule& first = request.schedules.front();
    request.size = first.shape.size;
    request.root = first.shape.root;
    request.in_place = first.shape.in_place;
    request.selection.collective = first.collective;
    if (request.size > FaultAnalysis::most_ranks)
      throw Error(ErrorCode::unsupported,
                  fmt::format("failures are analysed for up to {} ranks", FaultAnalysis::most_ranks));
  }
  if (request.size == 0) misuse("-p, the number of ranks, is needed");
  read_failures(o);
  if (const auto collective = collective_from_string(o.what)) {
    check_root(request.root, request.size, *collective);
    rank_algorithms_of(o, *collective);
    return;
  }
  if (!from_file) request.selection = parse_selection(o.what);
  check_root(request.root, request.size, request.selection.collective);
  if (o.repair) {
    repairs(o);
    return;
  }
  if (!o.picture.empty()) misuse("--picture draws a repair: give --repair");
  const std::optional<Chart> chart = chart_for(o.plot);
  const Failures failures = find_failures(request);
  print(o.json ? failures_json(request, failures) : failures_table(request, failures));
  if (!chart) return;
  const Interruptible interruptible;  // not before: the analysis does not ask for signals
  chart->draw_json(failures_json(request, failures));
}

/// The name of a picture ends in .svg, as that is what is written.
CLI::Validator svg_file() {
  return {[](std::string& path) {
            return path.ends_with(".svg") ? std::string()
                                          : "'" + path + "' does not end in .svg, which is what is written";
          },
          ""};
}

}  // namespace

void add_faults(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<FaultsOptions>();
  CLI::App* command = app.add_subcommand("faults", "Tell what is lost when ranks fail, and what can be put together");
  command
      ->add_option("what", options->what,
                   "COLLECTIVE/ALGORITHM[:param=value,...]; COLLECTIVE to rank its algorithms by what they lose; or a "
                   "file of schedules")
      ->type_name("WHAT");
  command->add_option("-p,--ranks", options->request.size, "Number of ranks")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, FaultAnalysis::most_ranks));
  command->add_option("--failed", options->failed, "The ranks that fail together, F[,F...]; all: each one by itself")
      ->capture_default_str();
  command->add_option("--round", options->round, "The number k of rounds that have ended; all: each one")
      ->capture_default_str();
  command->add_option("--keep", options->keep, "The data that survivors can still use: live, buf, keep or log")
      ->capture_default_str();
  command->add_option("--root", options->request.root, "The root of a rooted collective")->transform(whole_number());
  command->add_flag("--in-place", options->request.in_place, "The call has MPI_IN_PLACE");
  command->add_flag("--orders", options->request.orders,
                    "Also failures within round k, in every order of delivery of what the failed ranks send in it");
  command->add_flag("--ahead", options->request.ahead, "Survivors go on until they wait for those that failed");
  command->add_flag("--repair", options->repair,
                    "How survivors end the collective: a repair from what they hold, or a restart, whichever is "
                    "cheaper. With one failure and one round its schedules follow");
  command->add_option("-b,--bytes", options->bytes, "Size of the vector that --repair prices; Ki, Mi, Gi may follow")
      ->transform(number_of_bytes())
      ->check(options::between(Count{0}, Count{1} << 50))
      ->default_str("1Mi");
  command->add_option("--machine", options->machine_file, "A machine file (circoll calibrate) for --repair")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "As JSON");
  command->add_option("--picture", options->picture, "With --repair: write an SVG of the messages of one repair")
      ->type_name("FILE.svg")
      ->check(svg_file());
  add_plot_option(*command, options->plot);
  command->add_flag("--page", options->page, "Print the page of all failures, in Markdown");
  command->footer(
      "Classes: FULL all contributions can be put together, SURV the survivors' alone, BOTH either, MIX each block "
      "only "
      "one way and not all the same, NONE. `circoll faults --page` defines them.\n"
      "Examples:\n"
      "  circoll faults allreduce/rabenseifner -p 8\n"
      "  circoll faults allreduce/recursive_doubling -p 8 --failed 2,3 --keep keep --json\n"
      "  circoll faults allreduce/binomial -p 7 --orders\n"
      "  circoll faults allreduce -p 8\n"
      "  circoll faults allreduce/ring -p 16 --json > ring.json\n"
      "  circoll faults allreduce/ring -p 16 --plot ring.svg\n"
      "  circoll faults allreduce/circulant_optimal -p 8 --failed 5 --keep keep --repair");
  command->callback([options, command] {
    refuse_for_file(options->what, *command, {"--ranks", "--root", "--in-place"});
    faults(*options);
  });
}

}  // namespace circoll::cli
