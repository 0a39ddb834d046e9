// What was written is read back, and its decisions are compared with what the writer says that they are.
#pragma once

#include <string>

#include "foreign/formats.hpp"

namespace circoll::foreign {

/// The first of the rules that holds a call, or nullptr.
[[nodiscard]] const Rule* first_rule(std::span<const Rule> rules, const Call& call);
/// Calls at and just outside of the bounds of every rule, of operators that commute and that do not.
[[nodiscard]] std::vector<Call> telling_calls(std::span<const Rule> rules);
/// A sentence about the first telling call of which the file says something else than `said`; empty if there is none.
[[nodiscard]] std::string read_back_difference(const Written& written, const Reader& reader);

}  // namespace circoll::foreign
