// Selections as the commands print them.
#pragma once

#include <string>

#include "circoll/algorithm.hpp"

namespace circoll::cli {

/// "collective/name:param=value,param=value".
[[nodiscard]] std::string with_params(const Selection& selection);

}  // namespace circoll::cli
