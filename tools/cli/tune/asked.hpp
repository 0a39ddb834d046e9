// The cells that circoll tune --here measures, each with the algorithms that have a chance in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measured/profile_choice.hpp"

namespace circoll::cli {

struct AskOptions {
  Rank ranks = 2;
  bool crowded = false;  ///< more ranks than processors
  bool quick = false;    ///< a few collectives and sizes
};

/// The operator of everything that is measured. Sums of doubles are what programs reduce most, and rules for them are
/// for integers as well.
inline constexpr RuleOperator tuned_operator{.op = Op::sum, .type = Type::float64};

/// All cells. Their candidates are the model's best few, its choice first, and native.
[[nodiscard]] std::vector<measured::AskedChoice> asked_cells(const AskOptions& options);

/// The cells of choices as a launch of its own measures them. Candidates are the model's choice, the one that was made,
/// and native.
[[nodiscard]] std::vector<measured::AskedChoice> cells_to_check(const std::vector<measured::AskedChoice>& asked,
                                                                const std::vector<measured::Chosen>& chosen);

/// Cells as circoll-bench --cells reads them, in an order that `seed` has shuffled.
[[nodiscard]] std::string cells_json(std::vector<measured::AskedChoice> cells, std::uint64_t seed);

/// The number of series that cells make, which is the number of lines that circoll-bench prints.
[[nodiscard]] std::size_t series_in(const std::vector<measured::AskedChoice>& cells);

}  // namespace circoll::cli
