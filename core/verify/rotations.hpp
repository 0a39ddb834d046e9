// Proofs by one rank, of which all others are rotations.
#pragma once

#include "schedule/rotation.hpp"
#include "verify/subject.hpp"

namespace circoll::verify {

/// Proves of the schedule of rank 0 and its rotations what is claimed, and counts it into a verdict. False if one rank
/// does not tell. `given` replaces the derived dependencies if it is one. Throws Refuted.
[[nodiscard]] bool prove_rotations(const Schedule& schedule, Rotation rotation, const Claims& claims,
                                   const Dependencies* given, Verdict& verdict);

}  // namespace circoll::verify
