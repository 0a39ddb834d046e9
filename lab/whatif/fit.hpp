// The machine of a recorded run: prices by which its collectives take as long as they did.
#pragma once

#include "whatif/play.hpp"

namespace circoll::whatif {

struct FittedMachine {
  Machine machine;
  double call_s = 0;   ///< that each call takes besides its messages
  double latency = 1;  ///< the factor of all prices of a round, at most 1
  double bytes = 1;    ///< the factor of all prices of a byte

  [[nodiscard]] bool changes() const { return call_s != 0 || latency != 1 || bytes != 1; }
};

/// Fits a machine to the calls in which all ranks came together, by least squares over the kinds of calls. A kind has
/// the weight of its time. Two numbers are fitted: a time that each call takes besides its messages, and a factor of
/// the prices of bytes, between 1/32 and 32. Where calls took less than their rounds cost, a factor of these takes the
/// place of the time. Of a single kind of calls the time or the factor is fitted, whichever has the larger part.
/// `served` chooses the algorithms of the recorded run. The machine itself if no call of several ranks blocked.
[[nodiscard]] FittedMachine fitted(const Program& program, const Machine& machine, const Choose& served,
                                   const std::function<bool()>& go_on = {});

/// All prices of rounds, and all of bytes, times a factor each.
[[nodiscard]] Machine scaled(Machine machine, double latency, double bytes);

}  // namespace circoll::whatif
