// Proofs about the form of schedules, before anything is executed.
#pragma once

#include "circoll/dependencies.hpp"
#include "verify/subject.hpp"

namespace circoll::verify {

/// Proves that the schedules are parts of one collective, with the caller's buffers as MPI defines them. None of them
/// writes what it must not, and a direct one passes no block on. Throws Refuted.
void check_structures(const Subject& subject);

/// Proves the form of one rank's schedule. Operands, blocks and peers are within bounds, the caller's buffers those of
/// the collective, and none is written that must not be. Throws Refuted.
void check_structure_of(const Schedule& s, const Claims& claims);

/// Proves for one rank that there is one message each way per round. None waits for another of its own round or a later
/// one. Throws Refuted.
void check_rounds(const Schedule& s, const Dependencies& d);

}  // namespace circoll::verify
