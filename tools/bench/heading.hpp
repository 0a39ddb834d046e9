// The first line of a table, and what a file says of itself: versions, host and date.
#pragma once

#include <string>

namespace circoll::bench {

/// "# Circoll 0.2.0 with openmpi 4.1.4: 4 ranks, rank 0 on node7, 2026-11-26T07:15:00Z".
[[nodiscard]] std::string heading(int size);

/// The present time in UTC, as ISO 8601 has it.
[[nodiscard]] std::string date();

}  // namespace circoll::bench
