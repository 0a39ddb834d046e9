// The choices that this process has met.
#pragma once

#include "prepare/choices.hpp"

namespace circoll::mpi {

using prepare::InternedChoice;

/// The interned form of a choice for a collective. A policy must live as long as the process. Throws what
/// parse_selection throws. A repeated choice costs a comparison and allocates nothing. Thread-safe.
[[nodiscard]] const InternedChoice* intern(Collective collective, const Choice& choice);

}  // namespace circoll::mpi
