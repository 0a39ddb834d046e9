#include "cost/cost_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "circoll/model.hpp"
#include "circoll/verify.hpp"
#include "cost/printed_formulas.hpp"
#include "oracle/formula.hpp"

namespace circoll::cli {
namespace {

constexpr std::array<Rank, 15> shown_sizes{2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 48, 63, 64};
constexpr std::int64_t shown_segments = 4;

constexpr std::string_view introduction = R"(# Costs

Written by `circoll cost --page`. Per algorithm: what it needs, the predicted time of a
vector of m bytes, what its schedules count, and what others print.

The letters are those of [notation.md](notation.md): q = ceil(log2 p), L = floor(log2 p), P = 2^L, r = p - P, n
segments, [a > b] is 1 or 0. All ranks go from round to round together. A round in which some rank both sends and
receives costs alpha, and beta per byte of its longest message; a one-way round costs alpha_uni = f_alpha alpha, and
beta_uni = f_beta beta per byte. gamma is paid per byte for the rank that combines the most in the round.

The tables are counted from the schedules of all ranks by the verifier, root 0, not in place; `n = 4` where there are
segments. The unit of the volumes is the block: m / blocks bytes. "sent" and "reduced" are the most that one rank does
in all, "levels" the rounds that wait for one another. Rows of zeros are left out. For all p = 2 .. 64, and for roots
and segments, tests hold the counts against the declared closed forms, and these against the formulas; `circoll verify
all -p 1..64 --root all` does the first.
)";

OperatorTraits any_operator() { return {.commutative = true, .idempotent = true}; }

/// Parameters of the tables.
Params params_of(const Algorithm& algorithm) {
  return algorithm.param("segments") != nullptr ? Params{{"segments", shown_segments}} : Params{};
}

std::vector<std::string> needs_of(const Algorithm& algorithm) {
  const Needs& needs = algorithm.needs;
  std::vector<std::string> words;
  if (needs.commutative) words.emplace_back("a commutative operator");
  if (needs.idempotent) words.emplace_back("an idempotent operator");
  if (needs.power_of_two) words.emplace_back("p a power of two");
  if (needs.even_size) words.emplace_back("p even");
  if (needs.min_size > 1) words.push_back(fmt::format("p >= {}", needs.min_size));
  return words;
}

struct Row {
  std::string_view name;
  std::vector<std::int64_t> values;
  bool always = false;
};

std::string table_of(const Algorithm& algorithm, Collective collective) {
  std::vector<Row> rows{{"rounds", {}, true}, {"one-way rounds", {}}, {"blocks", {}, true},
                        {"volume", {}},       {"one-way volume", {}}, {"combined", {}},
                        {"sent", {}},         {"reduced", {}},        {"levels", {}}};
  std::string head = "| p |";
  std::string line = "|---|";
  for (const Rank p : shown_sizes) {
    if (!unmet_need(algorithm, p, any_operator()).empty()) continue;
    head += fmt::format(" {} |", p);
    line += "--:|";
    const Verdict verdict = verify_algorithm(algorithm, collective, {.size = p, .params = params_of(algorithm)});
    if (verdict.refutation) throw std::runtime_error(verdict.refutation->to_string());
    const Cost& cost = verdict.counted;
    const CriticalPath& path = verdict.path;
    const std::array values{cost.rounds,   path.one_way, path.blocks,  path.volume, path.one_way_volume,
                            path.combined, cost.sent,    cost.reduced, path.levels};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
  }
  std::string table = head + "\n" + line + "\n";
  for (const Row& row : rows) {
    if (!row.always && std::all_of(row.values.begin(), row.values.end(), [](std::int64_t v) { return v == 0; }))
      continue;
    table += fmt::format("| {} | {} |\n", row.name, fmt::join(row.values, " | "));
  }
  return table;
}

/// The values of p and the letters that follow from it.
formula::Names names_for(Rank size) {
  const auto p = static_cast<double>(size);
  const double power = std::exp2(std::floor(std::log2(p)));
  return {{"p", p},         {"q", std::ceil(std::log2(p))}, {"L", std::log2(power)}, {"P", power},
          {"r", p - power}, {"n", shown_segments}};
}

/// True if a printed formula has the terms that the algorithm has, for a vector of one byte.
bool holds(const PrintedFormula& printed, const Selection& selection, Rank p) {
  constexpr Count vector_bytes = Count{1} << 40;
  const Terms terms = terms_of(selection, p, vector_bytes);
  const formula::Names names = names_for(p);
  const auto same = [&](std::string_view text, double actual) {
    return std::abs(formula::evaluate(text, names) - actual) < 1e-9;
  };
  const auto m = static_cast<double>(vector_bytes);
  return same(printed.alpha, terms.alpha) && same(printed.alpha_uni, terms.alpha_uni) &&
         same(printed.bytes, terms.bytes / m) && same(printed.bytes_uni, terms.bytes_uni / m) &&
         same(printed.combined, terms.combined / m);
}

/// For which p = 2 .. 64 a printed formula holds, in words.
std::string agreement(const PrintedFormula& printed) {
  Selection selection = parse_selection(printed.id);
  // A formula without n is about unsegmented messages.
  const std::int64_t n = printed.alpha.find('n') == std::string_view::npos ? 1 : shown_segments;
  if (!params_of(*selection.algorithm).empty()) selection.params = {{"segments", n}};
  std::vector<Rank> right;
  bool powers = true;
  int tried = 0;
  for (Rank p = 2; p <= 64; ++p) {
    if (!unmet_need(*selection.algorithm, p, any_operator()).empty()) continue;
    ++tried;
    const bool power = (p & (p - 1)) == 0;
    const bool now = holds(printed, selection, p);
    if (now) right.push_back(p);
    powers = powers && now == power;
  }
  if (right.empty()) return "holds for no p";
  if (static_cast<int>(right.size()) == tried) return "holds for all p";
  if (powers) return "holds for powers of two";
  return fmt::format("holds for p = {}", fmt::join(right, ", "));
}

std::string section(const Algorithm& algorithm) {
  const Collective collective = algorithm.collectives.front();
  std::string text = fmt::format("\n### {}\n\n", algorithm.id(collective));
  std::string summary(algorithm.summary);
  summary[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(summary[0])));
  text += summary + ".";
  if (const auto needs = needs_of(algorithm); !needs.empty()) text += fmt::format(" Needs {}.", fmt::join(needs, ", "));
  if (algorithm.collectives.size() > 1) {
    std::vector<std::string_view> others;
    for (std::size_t i = 1; i < algorithm.collectives.size(); ++i)
      others.push_back(to_string(algorithm.collectives[i]));
    text += fmt::format(" Serves {} too.", fmt::join(others, ", "));
  }
  text += fmt::format("\n\n```\n{}\n```\n\n", time_formula(algorithm, collective));
  text += table_of(algorithm, collective);
  bool first = true;
  for (const PrintedFormula& printed : printed_formulas()) {
    if (parse_selection(printed.id).algorithm != &algorithm) continue;
    if (first) text += "\n";
    first = false;
    text += fmt::format("- Printed: `{}` ({}); {}.", printed.printed, printed.where, agreement(printed));
    if (!printed.remark.empty()) text += fmt::format(" {}", printed.remark);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string cost_page() {
  std::string page(introduction);
  for (const Collective collective : all_collectives) {
    std::string sections;
    for (const Algorithm* a : algorithms_of(collective)) {
      if (a->collectives.front() == collective) sections += section(*a);
    }
    if (!sections.empty()) page += fmt::format("\n## {}\n{}", to_string(collective), sections);
  }
  return page;
}

}  // namespace circoll::cli
