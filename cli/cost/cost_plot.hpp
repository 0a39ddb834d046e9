// A plot of predicted times over sizes.
#pragma once

#include <string>
#include <vector>

#include "circoll/model.hpp"

namespace circoll::cli {

/// The subject of a plot.
struct PlotRequest {
  Collective collective = Collective::allreduce;
  Rank p = 2;
  Rank root = 0;
  Count most_bytes = 1 << 26;  ///< the largest size; the smallest is 8 bytes
  OperatorTraits op{};
  Machine machine{};
};

/// A size at which another algorithm becomes the fastest.
struct Crossover {
  Count bytes = 0;  ///< the smallest size at which `to` is faster
  const Algorithm* from = nullptr;
  const Algorithm* to = nullptr;
};

/// The crossovers between 8 bytes and the largest size, by size. They are exact up to a byte, if two algorithms cross
/// once between two sizes of the plot (four per doubling).
[[nodiscard]] std::vector<Crossover> crossovers(const PlotRequest& request);

/// An SVG picture by itself of time over size, both logarithmic. It has the algorithms that are the fastest somewhere
/// and those that come nearest, ten at most, with the crossovers of the fastest ones.
[[nodiscard]] std::string cost_plot(const PlotRequest& request);

}  // namespace circoll::cli
