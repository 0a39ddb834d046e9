// circoll list prints the algorithms, and the declarations of each.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "circoll/algorithm.hpp"
#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/verify.hpp"
#include "commands.hpp"
#include "facts/text.hpp"
#include "list/list.hpp"
#include "options/ranges.hpp"
#include "show/values_json.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

struct ListOptions {
  std::string what{};
  std::string collective{};
  bool collectives = false, types = false, operators = false, policies = false;
  bool details = false;
  bool json = false;
  bool bits = false;
  Rank root = 0;
  std::string page;
  std::vector<Rank> sizes;
};

/// An algorithm under one of the ids that it has.
struct Entry {
  const Algorithm* algorithm;
  Collective collective;
};

bool names_algorithm(const ListOptions& options) { return options.what.find('/') != std::string::npos; }

/// The collective that is asked for by --collective, or by a word.
std::optional<Collective> wanted_collective(const ListOptions& options) {
  if (!options.what.empty() && !options.collective.empty()) misuse("either --collective, or a word");
  if (!options.what.empty()) return parse_collective(options.what);
  if (!options.collective.empty()) return collective_from_string(options.collective);
  return std::nullopt;
}

/// One entry per id that is asked for, in the order of collectives.
std::vector<Entry> entries_of(const ListOptions& options) {
  if (names_algorithm(options)) {
    const Selection selection = parse_selection(options.what);
    return {{selection.algorithm, selection.collective}};
  }
  const std::optional<Collective> wanted = wanted_collective(options);
  std::vector<Entry> entries;
  for (const Collective collective : all_collectives) {
    if (wanted && collective != *wanted) continue;
    for (const Algorithm* a : algorithms_of(collective)) entries.push_back({a, collective});
  }
  return entries;
}

/// Counting executes all ranks symbolically: up to this p.
constexpr Rank most_counted = 128;

ordered_json costs_of(const Algorithm& algorithm, Collective collective, const std::vector<Rank>& sizes) {
  ordered_json costs = ordered_json::array();
  for (const Rank p : sizes) {
    // Needs that depend on p only: any operator will do here.
    if (!unmet_need(algorithm, p, {.commutative = true, .idempotent = true}).empty()) continue;
    ordered_json row{{"p", p}, {"declared", as_json(algorithm.cost(Shape{.size = p}))}};
    if (p <= most_counted) row["counted"] = as_json(verify_algorithm(algorithm, collective, Shape{.size = p}).counted);
    costs.push_back(std::move(row));
  }
  return costs;
}

ordered_json as_json(const Algorithm& algorithm, Collective collective, const std::vector<Rank>& sizes) {
  ordered_json collectives = ordered_json::array();
  for (const Collective c : algorithm.collectives) collectives.push_back(to_string(c));
  ordered_json params = ordered_json::array();
  for (const ParamDeclaration& p : algorithm.params) {
    params.push_back({{"name", p.name},
                      {"minimum", p.minimum},
                      {"maximum", p.maximum},
                      {"default", p.fallback},
                      {"summary", p.summary}});
  }
  ordered_json peers = ordered_json::object();
  for (const Library library : all_libraries) peers[title_of(library)] = algorithm.names_in(library, collective);
  const Needs& needs = algorithm.needs;
  return {{"id", algorithm.id(collective)},
          {"collectives", collectives},
          {"summary", algorithm.summary},
          {"source", algorithm.source},
          {"family", to_string(algorithm.family)},
          {"when", algorithm.when},
          {"peers", peers},
          {"needs",
           {{"commutative", needs.commutative},
            {"idempotent", needs.idempotent},
            {"power_of_two", needs.power_of_two},
            {"even_size", needs.even_size},
            {"min_size", needs.min_size}}},
          {"guarantees",
           {{"same_bits", algorithm.guarantees.same_bits},
            {"rank_order", algorithm.guarantees.rank_order},
            {"direct", algorithm.guarantees.direct}}},
          {"params", params},
          {"formula",
           {{"rounds", algorithm.formula.rounds},
            {"sent", algorithm.formula.sent},
            {"reduced", algorithm.formula.reduced},
            {"time", time_formula(algorithm, collective)}}},
          {"cost", costs_of(algorithm, collective, sizes)}};
}

void list_bits(const ListOptions& options) {
  require(options.sizes.size() == 1, "--bits wants one number of ranks: -p 8");
  const Rank p = options.sizes[0];
  require(options.root < p, "the root is none of the ranks");
  std::vector<Collective> collectives;
  if (const std::optional<Collective> wanted = wanted_collective(options)) {
    collectives.push_back(*wanted);
  } else {
    std::ranges::copy_if(all_collectives, std::back_inserter(collectives), is_reducing);
  }
  print(options.json ? bits_json(collectives, p, options.root).dump(2) + "\n"
                     : bits_table(collectives, p, options.root));
}

void list_json(const ListOptions& options) {
  std::vector<Rank> sizes = options.sizes;
  for (Rank p = 2; options.sizes.empty() && p <= 16; ++p) sizes.push_back(p);
  ordered_json rows = ordered_json::array();
  for (const Entry& e : entries_of(options)) rows.push_back(as_json(*e.algorithm, e.collective, sizes));
  print(rows.dump(2) + "\n");
}

void list_details(const ListOptions& options) {
  std::string text;
  for (const Entry& e : entries_of(options)) text += (text.empty() ? "" : "\n") + described(*e.algorithm, e.collective);
  print(text);
}

void list(const ListOptions& options) {
  if (options.collectives) return print(collective_names());
  if (options.types) return print(type_table());
  if (options.operators) return print(operator_table());
  if (options.policies) return print(policy_table());
  if (options.bits) return list_bits(options);
  require(options.json || options.sizes.empty(), "-p is for --json, or --bits");
  if (!options.page.empty()) return print(options.page == "peers" ? peers_page() : algorithms_page());
  if (options.json) return list_json(options);
  if (options.details || names_algorithm(options)) return list_details(options);
  const std::optional<Collective> wanted = wanted_collective(options);
  print(wanted ? table_of(*wanted) : table_of_all());
}

/// Each prints a list of names, and goes with nothing else.
void add_lists_of_names(CLI::App& command, ListOptions& options, const std::vector<CLI::Option*>& others) {
  CLI::Option* const collectives =
      command.add_flag("--collectives", options.collectives, "Only the names of the collectives, one on each line");
  CLI::Option* const types = command.add_flag("--types", options.types, "The element types, and their other names");
  CLI::Option* const operators = command.add_flag("--operators", options.operators, "The operators of reductions");
  CLI::Option* const policies = command.add_flag("--policies", options.policies, "The policies that choose algorithms");
  for (CLI::Option* const one : {collectives, types, operators, policies}) {
    for (CLI::Option* const other : others) one->excludes(other);
  }
}

}  // namespace

void add_list(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List the algorithms and what they declare");
  CLI::Option* const what =
      command
          ->add_option("what", options->what,
                       "COLLECTIVE: a line for each of its algorithms; COLLECTIVE/ALGORITHM: all about one")
          ->type_name("WHAT");
  CLI::Option* collective =
      command->add_option("-c,--collective", options->collective, "Only those that serve this collective")
          ->transform(collective_name());
  command->add_flag("--details", options->details, "All that each one declares");
  CLI::Option* json =
      command->add_flag("--json", options->json,
                        "As JSON, with declared and (up to p = 128) counted costs in blocks, not in place, root 0");
  command
      ->add_option("--page", options->page,
                   "Print a page in Markdown instead: when to take which, or names in other libraries")
      ->check(CLI::IsMember({"algorithms", "peers"}))
      ->excludes(json);
  CLI::Option* sizes =
      command->add_option("-p,--ranks", options->sizes, "Numbers of ranks to give costs, or bits, for (costs: 2 .. 16)")
          ->transform(whole_number())
          ->check(options::between(Rank{1}, Rank{1} << 20));
  CLI::Option* bits =
      command->add_flag("--bits", options->bits, "Reductions by the bits of their results instead")->needs(sizes);
  command->add_option("--root", options->root, "Root of --bits (default 0)")
      ->transform(whole_number())
      ->check(options::at_least(0))
      ->needs(bits);
  add_lists_of_names(*command, *options, {what, collective, json});
  command->footer(
      "Examples:\n"
      "  circoll list\n"
      "  circoll list allreduce\n"
      "  circoll list allreduce/ring\n"
      "  circoll list --types\n"
      "  circoll list --bits -p 8 --collective allreduce\n"
      "  circoll list --json -p 64 -p 100 | jq '.[] | {id, cost}'");
  command->callback([options] { list(*options); });
}

}  // namespace circoll::cli
