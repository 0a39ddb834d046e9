// The predicted time of an algorithm as a formula, from the formulas that it declares.
#include <algorithm>
#include <cctype>
#include <map>

#include "circoll/collectives.hpp"
#include "circoll/model.hpp"

namespace circoll {
namespace {

/// The formula of every field of CostFormula that the time depends on, with those that are not declared.
std::map<std::string, std::string, std::less<>> fields_of(const Algorithm& algorithm, Collective collective) {
  const CostFormula& f = algorithm.formula;
  const auto or_else = [](std::string_view text, std::string_view fallback) {
    return std::string(text.empty() ? fallback : text);
  };
  const bool segments = algorithm.param("segments") != nullptr;
  const bool by_rank = !has_one_vector(collective);
  return {{"rounds", std::string(f.rounds)},
          {"blocks", or_else(f.blocks, segments  ? (by_rank ? "n p" : "n")
                                       : by_rank ? "p"
                                                 : "1")},
          {"two_way", or_else(f.two_way, f.rounds)},
          {"one_way", or_else(f.one_way, "0")},
          {"volume", or_else(f.volume, f.sent)},
          {"one_way_volume", or_else(f.one_way_volume, "0")},
          {"combined", or_else(f.combined, f.reduced)}};
}

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Has it something other than products outside of brackets.
bool is_sum(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth == 0 && (c == '+' || c == '-')) return true;
  }
  return false;
}

/// A formula that needs a line of its own: a bound, a word, or one with names of its own.
bool is_long(std::string_view text) {
  return text.starts_with("counted") || text.starts_with("<=") || text.find(", ") != std::string_view::npos ||
         text.size() > 30;
}

}  // namespace

std::string time_formula(const Algorithm& algorithm, Collective collective) {
  const auto fields = fields_of(algorithm, collective);
  std::vector<std::string> named;  // fields that stand by their names
  const auto name = [&](std::string_view field) {
    if (std::find(named.begin(), named.end(), field) == named.end()) named.emplace_back(field);
    return std::string(field);
  };
  const auto text_of = [&](std::string_view field) {
    const std::string& text = fields.find(field)->second;
    return is_long(text) ? name(field) : text;
  };
  std::string time;
  const auto add = [&](std::string_view field, bool per_block, std::string_view unit) {
    const std::string text = text_of(field);
    if (text == "0") return;
    const std::string blocks = text_of("blocks");
    std::string factor = is_sum(text) ? "(" + text + ")" : text;
    if (per_block && blocks != "1") {
      const bool one_word = std::all_of(blocks.begin(), blocks.end(), letter);
      if (factor == blocks || factor == "(" + blocks + ")") {
        factor = "1";
      } else {
        factor += one_word ? "/" + blocks : "/(" + blocks + ")";
      }
    }
    time += time.empty() ? "" : " + ";
    if (factor != "1") time += factor + " ";
    time += unit;
  };
  add("two_way", false, "alpha");
  add("one_way", false, "alpha_uni");
  if (traits_of(collective).moves_data) {
    add("volume", true, "m beta");
    add("one_way_volume", true, "m beta_uni");
    add("combined", true, "m gamma");
  }
  std::string result = "T = " + (time.empty() ? "0" : time);
  // Appends a line for each field whose name stands in the formula, or in a line before.
  for (std::size_t shown = 0;; ++shown) {
    for (const auto& [field, text] : fields) {
      for (std::size_t at = 0; (at = result.find(field, at)) != std::string::npos; at += field.size()) {
        const bool begins = at == 0 || !letter(result[at - 1]);
        const std::size_t end = at + field.size();
        if (begins && (end == result.size() || !letter(result[end]))) (void)name(field);
      }
    }
    if (shown == named.size()) break;
    const std::string& text = fields.find(named[shown])->second;
    result += "\n" + named[shown] + (text.starts_with("<=") ? " " : text.starts_with("counted") ? ": " : " = ") + text;
  }
  return result;
}

}  // namespace circoll
