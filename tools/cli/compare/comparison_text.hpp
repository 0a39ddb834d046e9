// A comparison of runs, for people and for programs.
#pragma once

#include <string>

#include "measured/program_report.hpp"

namespace circoll::cli {

[[nodiscard]] std::string comparison_text(const RunComparison& comparison);
[[nodiscard]] std::string comparison_json(const RunComparison& comparison);

}  // namespace circoll::cli
