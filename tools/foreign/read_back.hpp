// Files that have been written are read back, and their decisions compared with those that the writer meant.
#pragma once

#include <string>

#include "foreign/formats.hpp"

namespace circoll::foreign {

/// The first of the rules that holds a call, or nullptr.
[[nodiscard]] const Rule* first_rule(std::span<const Rule> rules, const Call& call);
/// Calls at and just outside of the bounds of every rule, of operators that commute and that do not.
[[nodiscard]] std::vector<Call> telling_calls(std::span<const Rule> rules);
/// A sentence about the first telling call that the file decides otherwise than `said`; empty if none.
[[nodiscard]] std::string read_back_difference(const Written& written, const Reader& reader);

}  // namespace circoll::foreign
