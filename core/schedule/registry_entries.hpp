// Between the generated registry and its readers.
#pragma once

#include <vector>

#include "circoll/algorithm.hpp"

namespace circoll::algorithms {

/// One entry per file below core/algorithms; defined in the generated registry.cpp.
const std::vector<const Algorithm*>& entries();

}  // namespace circoll::algorithms
