// A network and circumstances as one run looks at them: prices, and what slows or delays a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sim.hpp"

namespace circoll::sim {

/// A number of [0, 1) that belongs to a seed, a rank and a thing the rank does. The same in every order of events.
[[nodiscard]] double uniform_draw(std::uint64_t seed, std::uint64_t rank, std::uint64_t what);
/// A draw of a distribution, likewise.
[[nodiscard]] double draw(const Spread& spread, std::uint64_t seed, std::uint64_t rank, std::uint64_t what);

/// Throws Error(invalid_argument) unless all numbers make sense for p ranks.
void check_network(const Network& network);
void check_circumstances(const Circumstances& circumstances, Rank p);

/// The times at which p ranks begin.
[[nodiscard]] std::vector<double> begins_of(const Circumstances& circumstances, Rank p);
/// The factor of every rank; empty: all 1.
[[nodiscard]] std::vector<double> factors_of(const Circumstances& circumstances, Rank p);

}  // namespace circoll::sim
