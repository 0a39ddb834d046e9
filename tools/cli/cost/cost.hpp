// Parts of circoll cost: predicted times of all algorithms over sizes, and the page of all costs.
#pragma once

#include <string>
#include <vector>

#include "circoll/model.hpp"

namespace circoll::cli {

/// The calls that are priced.
struct SizesRequest {
  Collective collective = Collective::allreduce;
  Rank p = 2;
  Rank root = 0;
  Count most_bytes = 1 << 26;  ///< the largest size; the smallest is 8 bytes
  OperatorTraits op{};
  Machine machine{};
};

/// The times of an algorithm at all sizes, in seconds.
struct TimesOverSizes {
  const Algorithm* algorithm = nullptr;
  std::vector<double> times_s{};
};

/// A size at which another algorithm becomes the fastest.
struct Crossover {
  Count bytes = 0;  ///< the smallest size at which `to` is faster
  const Algorithm* from = nullptr;
  const Algorithm* to = nullptr;
};

/// Four sizes per doubling from 8 bytes on, and the largest.
[[nodiscard]] std::vector<Count> sizes_of(const SizesRequest& request);

/// The times of all algorithms that a ranking prices, in the order of the registry. Throws Error(unsupported) if there
/// is none.
[[nodiscard]] std::vector<TimesOverSizes> times_over_sizes(const SizesRequest& request);

/// The first of the ranking at all sizes. Throws Error(unsupported) if no algorithm is ranked.
[[nodiscard]] std::vector<const Algorithm*> fastest_over_sizes(const SizesRequest& request);

/// The crossovers between 8 bytes and the largest size, by size. They are exact up to a byte, if two algorithms cross
/// once between two of the sizes.
[[nodiscard]] std::vector<Crossover> crossovers(const SizesRequest& request);

/// docs/costs.md, a page of the site that is made from the registry. Per algorithm: needs, formula, counts from the
/// schedules, printed formulas. Verifies the schedules that it counts; throws std::runtime_error if one is refuted.
[[nodiscard]] std::string cost_page();

}  // namespace circoll::cli
