// Wrong schedules that teach something: one damage each to a right one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "circoll/verify.hpp"

namespace circoll::explorer {

/// Schedules, what is claimed of them, and dependencies if they are not the derived ones.
struct Exhibit {
  std::vector<Schedule> ranks{};
  Claims claims{};
  std::vector<Dependencies> dependencies{};
};

/// A wrong schedule of the gallery.
struct Wrong {
  std::string_view name;
  std::string_view title;
  std::string_view lesson;
  Claim refuted;  ///< the claim that does not hold
  Exhibit (*make)();
};

/// All of them. A test proves that each claim is refuted.
[[nodiscard]] std::span<const Wrong> gallery();

}  // namespace circoll::explorer
