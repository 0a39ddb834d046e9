// Tests if one sample of times is of longer ones than another.
#pragma once

#include <cstddef>
#include <span>

namespace circoll {

/// The Mann-Whitney U test, one-sided. It gives the probability that ranks of `larger` are as high as these, or higher,
/// if both samples come of one distribution. Values that are equal share their ranks. Exact, given which values are
/// equal, for up to 60 values in all; beyond, the normal approximation, corrected for ties and continuity. 1 if a
/// sample is empty.
[[nodiscard]] double mann_whitney(std::span<const double> larger, std::span<const double> smaller);

/// The least that mann_whitney can give for samples of these sizes. It is 1 / (n + m choose n), when every value of the
/// one exceeds all of the other.
[[nodiscard]] double least_mann_whitney(std::size_t larger, std::size_t smaller);

}  // namespace circoll
