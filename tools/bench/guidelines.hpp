// Both sides of performance guidelines, measured in turn.
#pragma once

#include <string>
#include <vector>

#include "cell.hpp"

namespace circoll::bench {

/// One size: m bytes of the whole vector, and a series for every side and algorithm.
struct GuidelineCell {
  Count bytes = 0;
  std::vector<std::string> sides{};  ///< to_string(GuidelineSide), one per series
  std::vector<Series> series{};
};

/// Measures the sides of the guidelines about the collectives of the options. All ranks call it; the result is complete
/// on rank 0.
[[nodiscard]] GuidelineCell measure_guidelines(const Options& options, StartLine& line, Count bytes);

/// The sides that are one collective of the whole vector, as the cells that circoll-bench has without --guidelines.
[[nodiscard]] std::vector<Cell> cells_of(const GuidelineCell& cell, int size);

/// A table for people; `size` ranks.
[[nodiscard]] std::string guideline_header(const StartLine& line);
[[nodiscard]] std::string guideline_rows(const GuidelineCell& cell, int size);

}  // namespace circoll::bench
