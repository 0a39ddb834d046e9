// Waiting apart from the collectives themselves, by the clocks of a trace (docs/user/reports.md, "Trace").
#pragma once

#include <cstdint>
#include <istream>

namespace circoll {

/// The time in blocking collectives on all ranks. Means over the ranks.
struct Waiting {
  std::int64_t calls = 0;  ///< of each rank
  double inside_s = 0;     ///< in these calls
  double itself_s = 0;     ///< of that at most the collectives; the rest is waiting for ranks that come later
};

/// Reads a trace line by line. A rank waits from its entry until the last rank enters. If it leaves before that, its
/// whole time counts as the collective. Calls on fewer ranks, and all after the first call in which the ranks' orders
/// differ, are left out. Lines that are no events are left alone.
[[nodiscard]] Waiting waiting_of(std::istream& trace);

}  // namespace circoll
