// The examination of this system by circoll doctor, without ranks being started.
#pragma once

#include "circoll/types.hpp"
#include "doctor/finding.hpp"

namespace circoll::cli {

/// Processors and control groups, for `ranks` on this node.
[[nodiscard]] Findings examine_processors(Rank ranks);
/// Settings that may forbid processes to read one another's memory.
[[nodiscard]] Findings examine_copies();
/// Variables that begin with CIRCOLL_: those that are set, and those that are not Circoll's.
[[nodiscard]] Findings examine_environment();

/// The registered variable that a misspelt one looks like; empty if it is like none.
[[nodiscard]] std::string nearest_variable(const std::string& name);

}  // namespace circoll::cli
