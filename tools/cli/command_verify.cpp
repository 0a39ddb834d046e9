// circoll verify: prove algorithms over ranges of p, roots and parameters, or find the smallest counterexample.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "circoll/circoll.h"
#include "circoll/error.hpp"
#include "circoll/verify.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "options/ranges.hpp"
#include "schedule_file.hpp"
#include "verify/verify_rows.hpp"

namespace circoll::cli {
namespace {

struct VerifyOptions {
  std::vector<std::string> what;
  std::string sizes = "1..64";
  std::string roots = "sample";
  std::vector<std::int64_t> segments;
  std::optional<Count> bytes;
  int jobs = 0;
  Rank last_in_place = VerifyRange{}.last_in_place;
  bool on_arrival = false;
  bool symmetric = false;
  bool all_ranks = false;
  bool json = false;
  ShardOptions shard;
};

std::int64_t number(std::string_view text, std::string_view what) {
  const auto value = parse_number(text);
  if (!value) throw Error(ErrorCode::parse, fmt::format("'{}' is not {}", text, what));
  return *value;
}

/// Cuts the first of several items, separated by commas, off a text. Unlike split_list it gives empty ones, to refuse.
std::string_view next_item(std::string_view& text) {
  const std::string_view item = text.substr(0, text.find(','));
  text.remove_prefix(std::min(text.size(), item.size() + 1));
  return item;
}

/// "A..B" or "A", or several of these, separated by commas.
void read_sizes(std::string_view text, VerifyRange& range) {
  const bool several = text.find(',') != std::string_view::npos;
  std::set<Rank> sizes;
  do {
    const std::string_view item = next_item(text);
    const std::size_t dots = item.find("..");
    range.first = number(item.substr(0, dots), "a number of ranks, a range A..B of them, or a list of these");
    range.last =
        dots == std::string_view::npos ? range.first : number(item.substr(dots + 2), "the end of a range A..B");
    require(range.first >= 1 && range.first <= range.last, "p ranges over A..B with 1 <= A <= B");
    for (Rank p = range.first; several && p <= range.last; ++p) sizes.insert(p);
  } while (!text.empty());
  if (!several) return;
  range.only.assign(sizes.begin(), sizes.end());
  range.first = range.only.front();
  range.last = range.only.back();
}

void read_roots(std::string_view text, VerifyRange& range) {
  if (text == "sample") return;
  if (text == "all") {
    range.all_roots = true;
    return;
  }
  while (!text.empty()) {
    const std::string_view item = next_item(text);
    range.roots.push_back(number(item, "'all', 'sample' or a list of ranks"));
    if (range.roots.back() < 0) throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no rank", item));
  }
}

/// Ids, names of collectives, and "all"; the ids among them also into `named`.
std::vector<Selection> read_selections(const std::vector<std::string>& words, std::set<std::string>& named) {
  std::vector<Selection> selections;
  const auto add_collective = [&](Collective collective) {
    for (const Algorithm* a : algorithms_of(collective)) selections.push_back({a, collective, {}});
  };
  for (const std::string& word : words) {
    if (word == "all") {
      for (const Collective c : all_collectives) add_collective(c);
    } else if (const auto collective = collective_from_string(word)) {
      add_collective(*collective);
    } else {
      selections.push_back(parse_selection(word));
      named.insert(selections.back().id());
    }
  }
  return selections;
}

/// A line that is written over, on terminals only, a few times a second.
class VerifyProgress {
 public:
  void show(std::int64_t done, std::int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    fmt::print(stderr, "\r{} of {} instances", done, total);
    shown_ = true;
  }
  void clear() const {
    if (shown_) fmt::print(stderr, "\r{:60}\r", "");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

/// Instances come and go by the thousand, each with large arrays: keep their memory instead of returning it
/// each time.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// All that the verdicts depend on.
ShardedWork work_of(const VerifyOptions& options) {
  return {.command = "verify",
          .arguments = {{"what", fmt::format("{}", fmt::join(options.what, " "))},
                        {"ranks", options.sizes},
                        {"root", options.roots},
                        {"segments", fmt::format("{}", fmt::join(options.segments, ","))},
                        {"bytes", options.bytes ? std::to_string(*options.bytes) : ""},
                        {"in_place_up_to", std::to_string(options.last_in_place)},
                        {"on_arrival", options.on_arrival ? "yes" : "no"},
                        {"method", options.symmetric   ? "symmetric"
                                   : options.all_ranks ? "all ranks"
                                                       : ""}},
          .version = circoll_version()};
}

/// The proof of schedules that are there already. Nothing is declared of them: it is found out which operators they are
/// for, and what they guarantee, and costs are counted.
void verify_file(const VerifyOptions& options, Context& context) {
  if (options.what.size() != 1)
    throw Error(ErrorCode::invalid_argument, "a file of schedules is verified by itself, without other words");
  const ScheduleFile file = read_schedule_file(options.what.front());
  const auto& [claims, verdict] = prove(file);
  const RangeVerdict row{
      .id = file.first().id, .instances = verdict.proven() ? 1 : 0, .refutation = verdict.refutation, .seconds = 0};
  print_rows({row_of(row)}, {}, options.json, context);
  if (options.json || !verdict.proven()) return;
  const auto guarantees = [&, needs = claims.needs](const Guarantees& wanted) {
    Claims stronger{.needs = needs};
    stronger.guarantees = wanted;
    return verify_schedules(file.ranks, stronger).proven();
  };
  if (is_reducing(file.first().collective)) {
    print(fmt::format("  for {} operators; same bits on all ranks: {}\n",
                      claims.needs.idempotent            ? "commutative and idempotent"
                      : guarantees({.rank_order = true}) ? "all associative"
                                                         : "commutative",
                      guarantees({.same_bits = true}) ? "yes" : "no"));
  }
  const Cost& cost = verdict.counted;
  print(fmt::format(
      "  counted: {} rounds, {} messages; at most, in blocks: {} sent, {} received, {} combined, {} copied\n",
      cost.rounds, verdict.messages, cost.sent, cost.received, cost.reduced, cost.copied));
}

/// True if an algorithm has a parameter that only small numbers of ranks sample (VerifyRange::last).
bool samples_parameters(const Selection& selection) {
  return std::ranges::any_of(selection.algorithm->params, [&](const ParamDeclaration& param) {
    return param.name != "segments" && !selection.params.contains(param.name);
  });
}

void run(const VerifyOptions& options, Context& context) {
  keep_freed_memory();
  if (std::ranges::any_of(options.what, names_file)) return verify_file(options, context);
  VerifyRange range;
  read_sizes(options.sizes, range);
  read_roots(options.roots, range);
  range.segments = options.segments;
  range.last_in_place = options.last_in_place;
  range.on_arrival = options.on_arrival;
  if (options.all_ranks) range.method = ProofMethod::all_ranks;
  if (options.symmetric) range.method = ProofMethod::rotation;
  std::set<std::string> named;
  const std::vector<Selection> selections = read_selections(options.what, named);
  range.bytes = options.bytes;
  for (const Selection& selection : selections) {
    if (options.symmetric && named.contains(selection.id()) && !has_rotations(*selection.algorithm, selection.params)) {
      throw Error(
          ErrorCode::invalid_argument,
          selection.text() + ": the schedules of its ranks are not rotations of one, so --symmetric does not fit");
    }
    if (range.bytes || !selection.params.contains("segment")) continue;
    throw Error(ErrorCode::invalid_argument,
                selection.id() + ": segment=BYTES needs the size of the vector; give segments=NUMBER, or --bytes");
  }
  range.jobs = options.jobs > 0 ? options.jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (options.shard.asked()) return verify_shard(selections, range, work_of(options), options.shard);
  VerifyProgress progress;
  range.progress = [&](std::int64_t done, std::int64_t total) { progress.show(done, total); };
  const std::vector<RangeVerdict> verdicts = verify_range(selections, range);
  progress.clear();
  std::vector<VerifyRow> rows;
  rows.reserve(verdicts.size());
  for (const RangeVerdict& verdict : verdicts) rows.push_back(row_of(verdict));
  print_rows(rows, named, options.json, context);
  if (!options.json && range.last > 64 && std::ranges::any_of(selections, samples_parameters)) {
    print("  each parameter was varied up to p = 64; beyond, those that are not given have their defaults\n");
  }
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Prove algorithms for ranges of p, or find a counterexample");
  command
      ->add_option("WHAT", options->what,
                   "Ids, collectives, or 'all'; or a file of the schedules of all ranks (docs/lab/formats.md)")
      ->type_name("WHAT")
      ->required();
  command->add_option("-p,--ranks", options->sizes, "Numbers of ranks: A..B, one, or a list such as 1..8,16,64")
      ->capture_default_str();
  command->add_option("--root", options->roots, "'all', 'sample' (0, 1, p/2, p-1) or a list, for rooted collectives")
      ->capture_default_str();
  command->add_option("--segments", options->segments, "Values of the parameter 'segments' (default: a sample)")
      ->delimiter(',')
      ->transform(whole_number());
  command->add_option("--bytes", options->bytes, "The vector (Ki, Mi, Gi), for the parameter 'segment' in bytes")
      ->transform(number_of_bytes());
  command->add_option("--jobs", options->jobs, "Threads (default: one per core)")->check(options::at_least(0));
  command->add_option("--in-place-up-to", options->last_in_place, "Verify in-place calls as well up to this p")
      ->capture_default_str();
  command->add_flag("--on-arrival", options->on_arrival,
                    "Verify them with messages that are combined as they arrive, as ranks of a node do");
  CLI::Option* const symmetric = command->add_flag(
      "--symmetric", options->symmetric, "Only algorithms whose ranks all do the same, each proven by one rank");
  command->add_flag("--all-ranks", options->all_ranks, "Execute the schedules of all ranks in any case")
      ->excludes(symmetric);
  command->add_flag("--json", options->json, "As JSON");
  add_shard_options(*command, options->shard);
  command->footer(
      "Proven are: messages match, no deadlock under rendezvous, no race, no undefined read, each "
      "contribution exactly\n"
      "once, the declared order and same-bits guarantees, one message each way per round, declared cost = "
      "counted cost.\n"
      "Up to p = 64 each parameter that is not given also has the values 2, 3 and 7.\n"
      "Examples:\n"
      "  circoll verify all -p 1..64 --root all\n"
      "  circoll verify reduce_scatter -p 1..256\n"
      "  circoll verify allreduce reduce -p 1..64 --on-arrival\n"
      "  circoll verify allreduce/circulant --symmetric -p 1..1Mi    # every p; one rank stands for all "
      "(docs/developer/proof.md)\n"
      "  circoll verify bcast/circulant_pipelined -p 36 --root 0,35 --segments 1,8,64\n"
      "  circoll verify all -p 1..256 --shard 3/8 -o verify.3.json    # then: circoll merge verify.*.json\n"
      "  circoll verify mine.txt                                     # schedules from elsewhere\n"
      "Exit codes: 0 all proven, 1 refuted, 2 misuse.");
  command->callback([options, command, &context] {
    for (const std::string& word : options->what) {
      refuse_for_file(word, *command,
                      {"--ranks", "--root", "--segments", "--bytes", "--jobs", "--in-place-up-to", "--on-arrival",
                       "--symmetric", "--all-ranks", "--shard", "--output"});
    }
    run(*options, context);
  });
}

}  // namespace circoll::cli
