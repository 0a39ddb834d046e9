// Times of calls whose ranks share memory, from which the ways of their messages are told.
#pragma once

#include "measured/calibration.hpp"

namespace circoll::bench {

/// Adds samples of memory, and the ways that they went, if the ranks of rank 0's node share memory. Rank 0 calls with
/// `peer`, a rank of its node (0 if there is none), while the others sleep; and with all ranks, if they are on one node
/// that has fewer processors. All ranks call it; the samples are complete on rank 0.
void measure_ways(int rank, int peer, Calibration* calibration);

}  // namespace circoll::bench
