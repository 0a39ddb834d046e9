// Algorithms as text: a line for each, all that one declares, or by the bits of their results.
#include "list/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "verify/bits.hpp"

namespace circoll::cli {
namespace {

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

/// Columns of a terminal that a table may take.
constexpr std::size_t most_columns = 100;

/// A sentence, or as many whole words of it as fit.
std::string whole_words(std::string_view text, std::size_t most) {
  constexpr std::string_view dots = " ...";
  if (text.size() <= most) return std::string(text);
  const std::size_t end = most > dots.size() ? text.rfind(' ', most - dots.size()) : std::string_view::npos;
  if (end == std::string_view::npos) return "...";
  const std::string_view kept = text.substr(0, end);
  return fmt::format("{}{}", kept.substr(0, kept.find_last_not_of(" ,;:") + 1), dots);
}

/// The needs of an algorithm in few words, since the column repeats them for each.
std::string brief_needs(const Needs& needs) {
  std::vector<std::string> words;
  if (needs.commutative) words.emplace_back("commutative");
  if (needs.idempotent) words.emplace_back("idempotent");
  if (needs.power_of_two) words.emplace_back("p = 2^k");
  if (needs.even_size) words.emplace_back("p even");
  if (needs.min_size > 1) words.push_back(fmt::format("p >= {}", needs.min_size));
  return joined(words, "-");
}

/// Rows with columns as wide as their widest cell. The last column has the words that fit beside the others.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  std::vector<std::size_t> widths(rows.front().size() - 1);
  std::size_t before_last = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    for (const auto& row : rows) widths[i] = std::max(widths[i], row[i].size());
    before_last += widths[i] + 2;
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) text += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += whole_words(row.back(), most_columns - before_last) + "\n";
  }
  return text;
}

struct Class {
  BitClass bits;
  std::vector<std::string> ids;
};

/// The classes of a collective, in the order of their first algorithms.
std::vector<Class> classes_of(Collective collective, Rank p, Rank root) {
  std::vector<Class> classes;
  for (const Algorithm* algorithm : algorithms_of(collective)) {
    // Operators that round are neither exact nor idempotent, and most of them commute.
    if (!unmet_need(*algorithm, p, {.commutative = true, .idempotent = false}).empty()) continue;
    const Shape shape{.size = p, .root = is_rooted(collective) ? root : 0};
    BitClass bits = bit_class(*algorithm, collective, shape);
    const auto known = std::ranges::find_if(classes, [&](const Class& c) { return c.bits == bits; });
    if (known != classes.end()) {
      known->ids.push_back(algorithm->id(collective));
    } else {
      classes.push_back({std::move(bits), {algorithm->id(collective)}});
    }
  }
  return classes;
}

}  // namespace

std::string table_of_all() {
  std::vector<std::vector<std::string>> rows;
  for (const Collective collective : all_collectives) {
    for (const Algorithm* const a : algorithms_of(collective)) {
      rows.push_back({a->id(collective), std::string(a->summary)});
    }
  }
  return aligned(rows);
}

std::string table_of(Collective collective) {
  std::vector<std::vector<std::string>> rows{{std::string(to_string(collective)), "needs", "when"}};
  for (const Algorithm* const a : algorithms_of(collective)) {
    rows.push_back({std::string(a->name), brief_needs(a->needs), std::string(a->when)});
  }
  return aligned(rows) + fmt::format("\nall about one: circoll list {}/NAME\n", to_string(collective));
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

std::string bits_table(const std::vector<Collective>& collectives, Rank p, Rank root) {
  std::string text;
  for (const Collective collective : collectives) {
    text += fmt::format("{}{}, p = {}{}\n", text.empty() ? "" : "\n", to_string(collective), p,
                        is_rooted(collective) ? fmt::format(", root {}", root) : "");
    for (const Class& c : classes_of(collective, p, root)) {
      text += fmt::format("  {}{}\n    {}\n", c.bits.expression,
                          c.bits.one_expression ? "" : "  and others, by element", fmt::join(c.ids, "\n    "));
    }
  }
  return text;
}

nlohmann::ordered_json bits_json(const std::vector<Collective>& collectives, Rank p, Rank root) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Collective collective : collectives) {
    for (const Class& c : classes_of(collective, p, root)) {
      rows.push_back({{"collective", to_string(collective)},
                      {"p", p},
                      {"root", is_rooted(collective) ? root : 0},
                      {"class", fmt::format("{:016x}{:016x}", c.bits.high, c.bits.low)},
                      {"expression", c.bits.expression},
                      {"one_expression", c.bits.one_expression},
                      {"algorithms", c.ids}});
    }
  }
  return rows;
}

}  // namespace circoll::cli
