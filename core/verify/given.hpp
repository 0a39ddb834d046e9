// Schedules that somebody gives, of which nothing is declared: from a file, a text field, another tool.
#pragma once

#include <span>

#include "circoll/verify.hpp"

namespace circoll {

/// Throws Error(invalid_argument) unless the schedules are those of one call, of ranks 0 .. p-1 in order. The caller's
/// buffers must be as MPI defines them. The error names the schedule.
void check_one_call(std::span<const Schedule> ranks);

/// The outcome of a proof of schedules of which nothing is declared.
struct GivenProof {
  Claims claims{};    ///< needs: commutative, and idempotent if nothing less will do
  Verdict verdict{};  ///< refuted: the smallest evidence; proven: what was counted
};
/// Proves schedules, and finds out which operators they are for.
[[nodiscard]] GivenProof prove_given(std::span<const Schedule> ranks, const ProofWatch& watch = {});

}  // namespace circoll
