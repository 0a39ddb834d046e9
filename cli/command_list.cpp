// circoll list prints the algorithms, and the declarations of each.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bits_table.hpp"
#include "circoll/algorithm.hpp"
#include "circoll/collectives.hpp"
#include "circoll/error.hpp"
#include "circoll/model.hpp"
#include "circoll/verify.hpp"
#include "commands.hpp"
#include "list_pages.hpp"

namespace circoll::cli {
namespace {

using nlohmann::ordered_json;

struct ListOptions {
  std::string collective;
  bool collectives = false;
  bool json = false;
  bool bits = false;
  Rank root = 0;
  std::string page;
  std::vector<Rank> sizes;
};

std::string joined(const std::vector<std::string>& words, std::string_view none) {
  return words.empty() ? std::string(none) : fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> guarantees_of(const Algorithm& algorithm) {
  std::vector<std::string> words;
  if (algorithm.guarantees.same_bits) words.emplace_back("same bits on every rank");
  if (algorithm.guarantees.rank_order) words.emplace_back("operands in rank order");
  if (algorithm.guarantees.direct) words.emplace_back("blocks go straight to their destination");
  return words;
}

/// An algorithm under one of the ids that it has.
struct Entry {
  const Algorithm* algorithm;
  Collective collective;
};

/// One entry per id, in the order of collectives.
std::vector<Entry> entries_of(std::optional<Collective> wanted) {
  std::vector<Entry> entries;
  for (const Collective collective : all_collectives) {
    if (wanted && collective != *wanted) continue;
    for (const Algorithm* a : algorithms_of(collective)) entries.push_back({a, collective});
  }
  return entries;
}

std::string described(const Algorithm& algorithm, Collective collective) {
  std::vector<std::string> collectives;
  for (const Collective c : algorithm.collectives) collectives.emplace_back(to_string(c));
  std::string text = fmt::format("{}\n  {}\n", algorithm.id(collective), algorithm.summary);
  const auto line = [&](std::string_view key, std::string_view value) {
    text += fmt::format("  {:<12}{}\n", key, value);
  };
  line("serves", joined(collectives, "nothing"));
  line("needs", joined(needs_in_words(algorithm), "nothing"));
  line("guarantees", joined(guarantees_of(algorithm), "nothing beyond the collective's definition"));
  for (const ParamDeclaration& p : algorithm.params) {
    line("param", fmt::format("{}={} ({} .. {}): {}", p.name, p.fallback, p.minimum, p.maximum, p.summary));
  }
  line("rounds", algorithm.formula.rounds);
  line("sent", fmt::format("{} blocks", algorithm.formula.sent));
  line("reduced", fmt::format("{} blocks", algorithm.formula.reduced));
  line("source", algorithm.source);
  line("family", to_string(algorithm.family));
  line("when", algorithm.when);
  for (const Library library : all_libraries) {
    const auto names = algorithm.names_in(library, collective);
    if (!names.empty()) line(title_of(library), fmt::format("{}", fmt::join(names, ", ")));
  }
  return text;
}

ordered_json as_json(const Cost& cost) {
  return {{"rounds", cost.rounds},
          {"sent", cost.sent},
          {"received", cost.received},
          {"reduced", cost.reduced},
          {"copied", cost.copied}};
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

/// One name on each line, for scripts.
void list_collectives() {
  std::string text;
  for (const Collective collective : all_collectives) text += fmt::format("{}\n", to_string(collective));
  print(text);
}

void list_bits(const ListOptions& options) {
  require(options.sizes.size() == 1, "--bits wants one number of ranks: -p 8");
  const Rank p = options.sizes[0];
  require(options.root < p, "the root is none of the ranks");
  std::vector<Collective> collectives;
  if (!options.collective.empty()) {
    collectives.push_back(collective_from_string(options.collective).value());
  } else {
    std::copy_if(all_collectives.begin(), all_collectives.end(), std::back_inserter(collectives), is_reducing);
  }
  print(options.json ? bits_json(collectives, p, options.root).dump(2) + "\n"
                     : bits_table(collectives, p, options.root));
}

void list(const ListOptions& options) {
  if (options.bits) return list_bits(options);
  require(options.json || options.sizes.empty(), "-p is for --json, or --bits");
  if (!options.page.empty()) return print(options.page == "peers" ? peers_page() : algorithms_page());
  std::optional<Collective> wanted;
  if (!options.collective.empty()) wanted = collective_from_string(options.collective);
  const std::vector<Entry> entries = entries_of(wanted);
  if (options.json) {
    std::vector<Rank> sizes = options.sizes;
    for (Rank p = 2; options.sizes.empty() && p <= 16; ++p) sizes.push_back(p);
    ordered_json rows = ordered_json::array();
    for (const Entry& e : entries) rows.push_back(as_json(*e.algorithm, e.collective, sizes));
    print(rows.dump(2) + "\n");
    return;
  }
  std::string text;
  for (const Entry& e : entries) {
    if (!text.empty()) text += '\n';
    text += described(*e.algorithm, e.collective);
  }
  print(text);
}

}  // namespace

void add_list(CLI::App& app, Context& /*context*/) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand("list", "List the algorithms and what they declare");
  CLI::Option* collective =
      command->add_option("-c,--collective", options->collective, "Only those that serve this collective")
          ->transform(collective_name());
  CLI::Option* json =
      command->add_flag("--json", options->json,
                        "As JSON, with declared and (up to p = 128) counted costs in blocks, not in place, root 0");
  command->add_option("--page", options->page, "Print docs/algorithms.md, or docs/peers.md, instead")
      ->check(CLI::IsMember({"algorithms", "peers"}))
      ->excludes(json);
  CLI::Option* sizes =
      command->add_option("-p,--ranks", options->sizes, "Numbers of ranks to give costs, or bits, for (costs: 2 .. 16)")
          ->transform(whole_number())
          ->check(CLI::Range(Rank{1}, Rank{1} << 20));
  CLI::Option* bits =
      command->add_flag("--bits", options->bits, "Reductions by the bits of their results instead")->needs(sizes);
  command->add_option("--root", options->root, "Of --bits (default 0)")
      ->transform(whole_number())
      ->check(CLI::NonNegativeNumber)
      ->needs(bits);
  command->add_flag("--collectives", options->collectives, "Only the names of the collectives, one on each line")
      ->excludes(collective, json);
  command->footer(
      "Examples:\n"
      "  circoll list\n"
      "  circoll list --collective allreduce\n"
      "  circoll list --bits -p 8 --collective allreduce\n"
      "  circoll list --json -p 64 -p 100 | jq '.[] | {id, cost}'");
  command->callback([options] { options->collectives ? list_collectives() : list(*options); });
}

}  // namespace circoll::cli
