// What a collective costs: terms in alpha, beta and gamma, and predicted times on a machine.
#pragma once

#include <string>
#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll {

/// The machine of the cost model (docs/notation.md). A message of b bytes that is exchanged for another one costs
/// alpha + b beta; one that travels alone costs f_alpha alpha + b f_beta beta; combining b bytes costs b gamma.
struct Machine {
  std::string name = "default";
  double alpha_s = 2e-6;             ///< seconds per round of messages in both directions
  double beta_s_per_byte = 0.25e-9;  ///< seconds per byte and direction of such a round
  double gamma_s_per_byte = 0.1e-9;  ///< seconds per byte of a result of a reduction
  double f_alpha = 1.0;              ///< alpha_uni / alpha, usually between 0.5 and 1
  double f_beta = 1.0;               ///< beta_uni / beta, usually between 0.5 and 1
};

/// Coefficients of the predicted time
/// T = alpha * alpha_s + alpha_uni * f_alpha * alpha_s + bytes * beta_s_per_byte + bytes_uni * f_beta * beta_s_per_byte
///   + combined * gamma_s_per_byte.
struct Terms {
  double alpha = 0;      ///< rounds in which some rank sends and receives
  double alpha_uni = 0;  ///< rounds in which every rank only sends or only receives
  double bytes = 0;      ///< sum over the first kind of rounds of the longest message
  double bytes_uni = 0;  ///< the same over the second kind
  double combined = 0;   ///< sum over rounds of the most bytes that a rank combines
};

/// The terms of a selection for p ranks and a vector of `bytes` (default_selection says which vector that is).
/// O(log p) where the algorithm's closed form is.
[[nodiscard]] Terms terms_of(const Selection& selection, Rank p, Count bytes);

/// The time of these terms on a machine [s].
[[nodiscard]] double seconds(const Terms& terms, const Machine& machine);

/// A selection with the "segments" of least predicted time, if the algorithm declares that parameter and the selection
/// does not give it; any other selection as it is.
[[nodiscard]] Selection with_best_segments(const Selection& selection, Rank p, Count bytes, const Machine& machine);

}  // namespace circoll
