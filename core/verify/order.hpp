// Proofs about the order of a rank's steps, before they are executed.
#pragma once

#include <span>
#include <vector>

#include "circoll/dependencies.hpp"
#include "verify/subject.hpp"

namespace circoll::verify {

/// Proves it of one rank's schedule. Throws Refuted.
void prove_order_of(const Schedule& schedule, const Dependencies& dependencies);

/// Proves what must hold before a step runs: rounds, and no two unordered steps that share memory. Returns the
/// dependencies of all ranks, which are derived if none are given. Throws Refuted.
[[nodiscard]] std::vector<Dependencies> prove_order(const Subject& subject, std::span<const Dependencies> given);

}  // namespace circoll::verify
