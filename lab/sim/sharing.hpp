// Ports that share themselves among messages, as a network does that gets all of them at once.
#pragma once

#include "sim/programs.hpp"
#include "sim/sim.hpp"

namespace circoll::sim {

/// Plays a collective where Network::shared says so; simulate() calls it. O(messages * messages under way).
[[nodiscard]] SimulatedRun play_sharing(const Programs& programs, double bytes, const Network& network,
                                        const Options& options);

}  // namespace circoll::sim
