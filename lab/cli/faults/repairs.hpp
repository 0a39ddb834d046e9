// Repairs of failures, beside a restart among the survivors.
#pragma once

#include <string>
#include <vector>

#include "circoll/model.hpp"
#include "faults/failures.hpp"

namespace circoll::cli {

/// The way on after a failure.
struct WayOn {
  std::vector<Rank> failed{};
  std::uint32_t k = 0;
  Repair repair{};
  double repair_s = 0;
  /// A call of the same collective by the survivors, by the algorithm of least time. Its result is the survivors' own.
  std::string restart{};  ///< the algorithm; empty if there is no restart
  double restart_s = 0;
  std::string no_restart{};  ///< the reason if there is none
  /// "nothing", "repair" or "restart": the cheaper of those that there are; "lost" if there are none.
  std::string advice{};
};

/// The ways on after the failures of a request, priced for a vector of so many bytes.
[[nodiscard]] std::vector<WayOn> find_ways_on(const FailureRequest& request, Count bytes, const Machine& machine);

[[nodiscard]] std::string ways_on_table(const FailureRequest& request, Count bytes, const Machine& machine,
                                        const std::vector<WayOn>& ways);
[[nodiscard]] std::string ways_on_json(const FailureRequest& request, Count bytes, const Machine& machine,
                                       const std::vector<WayOn>& ways);

}  // namespace circoll::cli
