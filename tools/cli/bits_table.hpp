// The algorithms of reductions by the bits of their results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "circoll/types.hpp"

namespace circoll::cli {

/// The classes of algorithms that give the same bits on p ranks. Each has a line with its expression, and below it the
/// algorithms, with their default parameters. Throws Error(invalid_argument) for a collective that reduces nothing.
[[nodiscard]] std::string bits_table(const std::vector<Collective>& collectives, Rank p, Rank root);
[[nodiscard]] nlohmann::ordered_json bits_json(const std::vector<Collective>& collectives, Rank p, Rank root);

}  // namespace circoll::cli
