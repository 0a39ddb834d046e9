// Kinds of samples by name.
#pragma once

#include <string_view>

#include "measured/calibration.hpp"

namespace circoll::measured {

/// The name of a kind in files.
[[nodiscard]] std::string_view to_string(SampleKind kind);

}  // namespace circoll::measured
