// Are steps that touch the same slot ordered? Checked by other means than dependencies are derived by.
#pragma once

#include <optional>

#include "circoll/dependencies.hpp"

namespace circoll::verify {

/// Two steps of one rank that may run in either order although they must not.
struct Race {
  StepIndex earlier;
  StepIndex later;
  std::int32_t buffer;
  Slot slot;
};

/// Finds a pair of steps that race. They touch the same slot (or different views of one storage), one of them writing,
/// with no path between them in `dependencies`.
[[nodiscard]] std::optional<Race> find_race(const Schedule& schedule, const Dependencies& dependencies);

}  // namespace circoll::verify
