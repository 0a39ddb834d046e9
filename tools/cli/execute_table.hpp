// The table of circoll execute --table: every collective with its default algorithm, ranks as threads.
#pragma once

#include "circoll/types.hpp"

namespace circoll::cli {

/// Measures and prints the table; true if all results are right. Columns:
///   bytes         of the whole vector (count * 4, or the sum over all ranks' blocks)
///   median_us     median over repetitions of the maximum over ranks, in microseconds
///   reference_us  likewise, of a plain shared-memory implementation: barrier, every rank computes its result
///   straight
///                 from all inputs, barrier
///   ratio         median_us / reference_us
bool print_execute_table(Rank ranks, bool json);

}  // namespace circoll::cli
