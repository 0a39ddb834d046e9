// Times of messages and reductions, from which circoll calibrate makes a machine.
#pragma once

#include "measured/calibration.hpp"

namespace circoll::bench {

/// Measures exchanges, ping-pongs, and on rank 0 reductions, at sizes from 1 byte to 4 MiB. Rank 0 talks to the first
/// and the last rank of MPI_COMM_WORLD that is on another node (on one node: 1 and p-1), while the others sleep. If
/// there are several nodes, exchanges inside rank 0's are measured, too. About 10 seconds at most on two idle cores.
/// All ranks call it; the result is complete on rank 0. Throws Error(invalid_argument) on one rank.
[[nodiscard]] Calibration measure_machine(const std::string& name);

}  // namespace circoll::bench
