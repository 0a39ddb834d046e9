// From samples of calls in shared memory to the ways of messages inside a node.
#pragma once

#include "measured/calibration.hpp"

namespace circoll::measured {

/// Gives the fit's machine the ways of a calibration, and the price of waiting where ranks outnumber processors. Needs
/// f_alpha, f_beta and gamma of the machine. Each call of a sample is one that the model prices (docs/calibration.md),
/// and solved for what it is about. Coefficients are above 0 whatever the noise. Nothing happens if no ways were
/// sampled. Throws as fit_line.
void fit_ways(const Calibration& calibration, Fit* fit);

}  // namespace circoll::measured
