// The processors of this machine that programs may use.
#pragma once

#include "circoll/types.hpp"

namespace circoll::cli {

struct Processors {
  Count allowed = 1;           ///< by affinity
  Count quota = 0;             ///< the processors' time that the control groups give, rounded up; 0: no limit
  Count threads_per_core = 1;  ///< of the first processor

  /// The ranks for which there is a processor each.
  [[nodiscard]] Count usable() const { return quota > 0 && quota < allowed ? quota : allowed; }
  [[nodiscard]] Count cores() const { return usable() / threads_per_core > 0 ? usable() / threads_per_core : 1; }
};

[[nodiscard]] Processors own_processors();

}  // namespace circoll::cli
