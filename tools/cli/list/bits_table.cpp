// The algorithms of reductions by the bits of their results.
#include "list/list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "circoll/algorithm.hpp"
#include "verify/bits.hpp"

namespace circoll::cli {
namespace {

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
    const auto known = std::find_if(classes.begin(), classes.end(), [&](const Class& c) { return c.bits == bits; });
    if (known != classes.end()) {
      known->ids.push_back(algorithm->id(collective));
    } else {
      classes.push_back({std::move(bits), {algorithm->id(collective)}});
    }
  }
  return classes;
}

}  // namespace

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
