// Computes the formulas that algorithms declare (CostFormula), to compare them with their costs.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace circoll::formula {

/// Values of names.
using Names = std::map<std::string, double, std::less<>>;

/// The value of an expression. The text may end with ", name = expression", which holds before it. Throws
/// std::runtime_error with the place if the text is no expression. An expression has
///   - + - * / ^ mod, and juxtaposition as multiplication,
///   - [a > b] as 1 or 0,
///   - min, max, ceil, floor, log2, ones (binary digits that are 1), twos (the exponent of 2),
///   - sum(i, first, last, expression).
[[nodiscard]] double evaluate(std::string_view text, const Names& names);

/// Compares a declared formula with a number: "" if it holds, else the mistake. "<= E" holds for anything up to E.
/// "counted" holds for everything, and "counted; E for A = B" where A is not B, or for E.
[[nodiscard]] std::string mismatch(std::string_view text, const Names& names, double actual);

}  // namespace circoll::formula
