// Algorithms as text: a line for each, or all that one declares.
#pragma once

#include <string>

#include "circoll/algorithm.hpp"

namespace circoll::cli {

/// A line for each algorithm of each collective: id and summary.
[[nodiscard]] std::string table_of_all();

/// A line for each algorithm of a collective: rounds, blocks sent, needs, and when to take it.
[[nodiscard]] std::string table_of(Collective collective);

/// All that an algorithm declares, under one of its ids.
[[nodiscard]] std::string described(const Algorithm& algorithm, Collective collective);

}  // namespace circoll::cli
