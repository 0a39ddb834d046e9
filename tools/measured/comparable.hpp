// A test that launches may be put together.
#pragma once

#include <vector>

#include "measured/measurement.hpp"

namespace circoll::measured {

/// Throws unless launches of several numbers of ranks may be put together. Type, operator and root must be equal in all
/// of them, and the rest of the setting, as the way in which ranks start together, wherever they measured the same
/// number of ranks. Throws Error(invalid_argument) naming the first that differs, or if there are none.
void require_comparable(const std::vector<const Launch*>& launches);

}  // namespace circoll::measured
