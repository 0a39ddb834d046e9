// A page of the site that is made from the registry: docs/costs.md.
#pragma once

#include <string>

namespace circoll::cli {

/// The page, in Markdown: per algorithm needs, formula, counts from the schedules, printed formulas. Verifies the
/// schedules that it counts, and throws std::runtime_error if one is refuted.
[[nodiscard]] std::string cost_page();

}  // namespace circoll::cli
