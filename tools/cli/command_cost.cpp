// circoll cost shows the cost of an algorithm, ranks algorithms by cost, and writes the page of all costs.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "chart.hpp"
#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/ops.hpp"
#include "commands.hpp"
#include "cost/cost.hpp"
#include "facts/text.hpp"
#include "measured/file_kind.hpp"
#include "options/ranges.hpp"
#include "process.hpp"
#include "schedule_file.hpp"
#include "show/values_json.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

struct CostOptions {
  std::string what;
  Rank size = 0;
  Rank root = 0;
  Count bytes = 1 << 20;
  std::string op = "sum";
  Machine machine{};  ///< what is priced on: of the file, but for what was given beside it
  std::string machine_file;
  std::optional<double> alpha, beta, gamma, f_alpha, f_beta;
  bool json = false;
  bool page = false;
  bool sizes = false;
  std::string plot;  ///< a chart of the sizes; empty: none
};

OperatorTraits traits_of(const std::string& name) {
  const Op op = *op_from_string(name);
  return {.commutative = is_commutative(op), .idempotent = is_idempotent(op)};
}

/// "12 alpha", the terms with the cost of each.
std::string described(const Terms& terms, const Machine& on) {
  std::string text;
  const auto line = [&](std::string_view name, double value, std::string_view unit, double price) {
    if (value != 0)
      text += fmt::format("  {:<10}{:>16.10g} {:<16}{:>12}\n", name, value, unit, readable_time(value * price));
  };
  line("alpha", terms.alpha, "rounds", on.alpha_s);
  line("alpha_uni", terms.alpha_uni, "one-way rounds", on.alpha_s * on.f_alpha);
  line("beta", terms.bytes, "bytes", on.beta_s_per_byte);
  line("beta_uni", terms.bytes_uni, "bytes one-way", on.beta_s_per_byte * on.f_beta);
  line("gamma", terms.combined, "bytes combined", on.gamma_s_per_byte);
  return text;
}

ordered_json as_json(const Selection& selection, const Terms& terms, double time_s) {
  return {{"id", selection.id()},
          {"params", selection.params},
          {"formula", time_formula(*selection.algorithm, selection.collective)},
          {"terms", as_json(terms)},
          {"time_s", time_s}};
}

/// The call, common to all entries.
ordered_json call_as_json(const CostOptions& o) {
  return {{"p", o.size}, {"root", o.root}, {"bytes", o.bytes}, {"machine", as_json(o.machine)}};
}

/// Prints the price of a call. As JSON that is `entry` beside the call, as text the terms and their costs.
void print_price(const CostOptions& o, const ordered_json& entry, const std::string& heading, const Terms& terms) {
  if (o.json) {
    ordered_json result = call_as_json(o);
    result.update(entry);
    print(result.dump(2) + "\n");
    return;
  }
  print(fmt::format("{}{}  {:<44}{:>12}\n", heading, described(terms, o.machine), "time",
                    readable_time(seconds(terms, o.machine))));
}

void price(const CostOptions& o) {
  Selection selection = parse_selection(o.what);
  const OperatorTraits op = is_reducing(selection.collective) ? traits_of(o.op) : OperatorTraits{true, true};
  if (const std::string unmet = unmet_need(*selection.algorithm, o.size, op); !unmet.empty())
    throw Error(ErrorCode::unsupported, fmt::format("{} {}", selection.id(), unmet));
  selection = with_segment_count(selection, o.size, o.bytes);
  selection = with_best_segments(selection, o.size, o.bytes, o.machine, o.root);
  const Terms terms = terms_of(selection, o.size, o.bytes, o.root, o.machine.ports);
  std::string formula = time_formula(*selection.algorithm, selection.collective);
  for (std::size_t at = 0; (at = formula.find('\n', at)) != std::string::npos; at += 5)
    formula.replace(at, 1, "\n    ");
  print_price(
      o, as_json(selection, terms, seconds(terms, o.machine)),
      fmt::format("{}  p = {}, m = {}\n  {}\n", with_params(selection), o.size, readable_bytes(o.bytes), formula),
      terms);
}

/// The price of schedules from a file, by their counted path.
void price_file(CostOptions o) {
  const ProvenFile proven = read_proven_file(o.what);
  const Schedule& first = proven.file.first();
  require_fits(proven, is_reducing(first.collective) ? traits_of(o.op) : OperatorTraits{true, true});
  o.size = first.shape.size;
  o.root = first.shape.root;
  const Verdict& counted = proven.proof.verdict;
  const Terms terms = terms_of(first.collective, counted.path, counted.counted, o.bytes);
  print_price(o,
              {{"id", first.id},
               {"collective", to_string(first.collective)},
               {"file", o.what},
               {"terms", as_json(terms)},
               {"time_s", seconds(terms, o.machine)}},
              fmt::format("{}  p = {}, m = {}, counted in {}\n", first.id, o.size, readable_bytes(o.bytes), o.what),
              terms);
}

void rank(const CostOptions& o, Collective collective) {
  const OperatorTraits op = is_reducing(collective) ? traits_of(o.op) : OperatorTraits{true, true};
  const std::vector<Ranked> ranking = rank_algorithms(collective, o.size, o.bytes, op, o.machine, o.root);
  if (o.json) {
    ordered_json result = call_as_json(o);
    result["collective"] = to_string(collective);
    result["ranking"] = ordered_json::array();
    result["ruled_out"] = ordered_json::array();
    for (const Ranked& r : ranking) {
      if (r.unmet_need.empty()) {
        result["ranking"].push_back(as_json(r.selection, r.terms, r.time_s));
      } else {
        result["ruled_out"].push_back({{"id", r.selection.id()}, {"reason", r.unmet_need}});
      }
    }
    print(result.dump(2) + "\n");
    return;
  }
  std::size_t width = 0;
  for (const Ranked& r : ranking) width = std::max(width, with_params(r.selection).size());
  std::string text =
      fmt::format("{}, p = {}, m = {}\n{:<{}}{:>10}{:>8}{:>8}{:>11}{:>11}{:>11}\n", to_string(collective), o.size,
                  readable_bytes(o.bytes), "", width, "time", "rounds", "1-way", "bytes", "1-way", "combined");
  for (const Ranked& r : ranking) {
    if (r.unmet_need.empty()) {
      text += fmt::format("{:<{}}{:>10}{:>8}{:>8}{:>11.4g}{:>11.4g}{:>11.4g}\n", with_params(r.selection), width,
                          readable_time(r.time_s), r.terms.alpha, r.terms.alpha_uni, r.terms.bytes, r.terms.bytes_uni,
                          r.terms.combined);
    } else {
      text += fmt::format("{:<{}}  {}\n", r.selection.id(), width, r.unmet_need);
    }
  }
  text +=
      "\nrounds and bytes: ranks send and receive; 1-way: no rank does both. Of every round the longest"
      "\nmessage counts, and the most bytes that a rank combines. Formulas: circoll cost COLLECTIVE/NAME; terms:"
      "\ndocs/lab/notation.md\n";
  print(text);
}

/// Times of all algorithms over sizes as JSON; as text, which one is the fastest between which sizes.
void price_sizes(const CostOptions& o, Collective collective) {
  if (collective == Collective::barrier) throw Error(ErrorCode::invalid_argument, "a barrier has no sizes");
  const OperatorTraits op = is_reducing(collective) ? traits_of(o.op) : OperatorTraits{true, true};
  const SizesRequest request{
      .collective = collective, .p = o.size, .root = o.root, .most_bytes = o.bytes, .op = op, .machine = o.machine};
  const std::optional<Chart> chart = chart_for(o.plot);
  const std::vector<Crossover> changes = crossovers(request);
  if (!o.json) {
    const std::string first(
        changes.empty()
            ? rank_algorithms(collective, o.size, o.bytes, op, o.machine, o.root).front().selection.algorithm->name
            : changes.front().from->name);
    std::string text = fmt::format("{}, p = {}, up to {}: the fastest\n  from {:>10}  {}\n", to_string(collective),
                                   o.size, readable_bytes(o.bytes), readable_bytes(8), first);
    for (const Crossover& change : changes)
      text += fmt::format("  from {:>10}  {}\n", readable_bytes(change.bytes), change.to->name);
    print(text);
    if (!chart) return;
  }
  ordered_json result = call_as_json(o);
  result["collective"] = to_string(collective);
  result["sizes"] = sizes_of(request);
  result["fastest"] = ordered_json::array();
  for (const Algorithm* one : fastest_over_sizes(request)) result["fastest"].push_back(one->name);
  result["times_s"] = ordered_json::object();
  for (const TimesOverSizes& one : times_over_sizes(request))
    result["times_s"][std::string(one.algorithm->name)] = one.times_s;
  result["crossovers"] = ordered_json::array();
  for (const Crossover& change : changes)
    result["crossovers"].push_back({{"bytes", change.bytes}, {"from", change.from->name}, {"to", change.to->name}});
  if (o.json) print(result.dump(2) + "\n");
  if (!chart) return;
  const Interruptible interruptible;
  chart->draw_json(result.dump());
}

void cost(const CostOptions& o) {
  if (o.page) {
    if (!o.what.empty()) throw Error(ErrorCode::invalid_argument, "--page is about all algorithms: name none");
    print(cost_page());
    return;
  }
  if (o.what.empty()) throw Error(ErrorCode::invalid_argument, "an id or a collective is needed; see --help");
  if (names_file(o.what)) return price_file(o);
  if (o.size == 0) throw Error(ErrorCode::invalid_argument, "-p, the number of ranks, is needed");
  const auto collective = collective_from_string(o.what);
  const Collective priced = collective ? *collective : parse_selection(o.what).collective;
  check_root(o.root, o.size, priced);
  if (o.sizes || !o.plot.empty()) {
    if (!collective)
      throw Error(ErrorCode::invalid_argument, "--sizes and --plot compare the algorithms of a collective: name it");
    if (o.bytes < 1024)
      throw Error(ErrorCode::invalid_argument, "--sizes and --plot need --bytes of 1Ki or more: the largest size");
    price_sizes(o, *collective);
  } else if (collective) {
    rank(o, *collective);
  } else {
    price(o);
  }
}

}  // namespace

void add_cost(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<CostOptions>();
  CLI::App* command = app.add_subcommand("cost", "Predict times: of an algorithm, or of all of a collective");
  command
      ->add_option("what", options->what,
                   "COLLECTIVE/ALGORITHM[:param=value,...]; COLLECTIVE to rank its algorithms; or a file of schedules")
      ->type_name("WHAT");
  command->add_option("-p,--ranks", options->size, "Number of ranks")
      ->transform(whole_number())
      ->check(options::between(Rank{1}, Rank{1} << 20));
  command->add_option("-b,--bytes", options->bytes, "Size of the vector; Ki, Mi, Gi may follow the number")
      ->transform(number_of_bytes())
      ->check(options::between(Count{0}, Count{1} << 50))
      ->default_str("1Mi");
  command->add_option("--root", options->root, "The root of a rooted collective")->transform(whole_number());
  command->add_option("--op", options->op, "The operator of a reduction: rules algorithms out that it does not suit")
      ->transform(op_name())
      ->capture_default_str();
  command->add_option("--machine", options->machine_file, "A machine file (circoll calibrate), or leonardo or lumi")
      ->type_name("FILE");
  const Machine measured;
  const auto price_option = [&](const char* name, std::optional<double>& value, double fallback, const char* help) {
    command->add_option(name, value, help)->check(options::at_least(0))->default_str(fmt::format("{}", fallback));
  };
  price_option("--alpha", options->alpha, measured.alpha_s, "Seconds per round of messages in both directions");
  price_option("--beta", options->beta, measured.beta_s_per_byte, "Seconds per byte of such a message");
  price_option("--gamma", options->gamma, measured.gamma_s_per_byte, "Seconds per byte combined");
  price_option("--f-alpha", options->f_alpha, measured.f_alpha,
               "alpha of rounds in which messages go one way, as a share of alpha");
  price_option("--f-beta", options->f_beta, measured.f_beta, "beta of such rounds, as a share of beta");
  command->add_flag("--json", options->json, "As JSON");
  command->add_flag(
      "--sizes", options->sizes,
      "The fastest algorithms of a collective, from 8 bytes to --bytes; with --json the times of all, four "
      "sizes per doubling");
  add_plot_option(*command, options->plot);
  command->add_flag("--page", options->page,
                    "Print a page in Markdown: all formulas, counted costs, and printed formulas");
  command->footer(
      "Segments that are not given are the best; in a ranking all parameters are. The letters of formulas are those of "
      "docs/lab/notation.md.\n"
      "Examples:\n"
      "  circoll cost allreduce/rabenseifner -p 12 --bytes 1Mi\n"
      "  circoll cost bcast -p 48 --bytes 64Ki --alpha 1e-6 --beta 1e-10 --f-alpha 0.7 --f-beta 0.8\n"
      "  circoll cost allreduce -p 36 --bytes 64Mi --sizes --json > times.json\n"
      "  circoll cost allreduce -p 36 --bytes 64Mi --plot times.svg");
  command->callback([options, command] {
    refuse_for_file(options->what, *command, {"--ranks", "--root", "--sizes", "--plot"});
    if (!options->machine_file.empty()) options->machine = measured::read_machine_file(options->machine_file);
    Machine& on = options->machine;
    on.alpha_s = options->alpha.value_or(on.alpha_s);
    on.beta_s_per_byte = options->beta.value_or(on.beta_s_per_byte);
    on.gamma_s_per_byte = options->gamma.value_or(on.gamma_s_per_byte);
    on.f_alpha = options->f_alpha.value_or(on.f_alpha);
    on.f_beta = options->f_beta.value_or(on.f_beta);
    cost(*options);
  });
}

}  // namespace circoll::cli
