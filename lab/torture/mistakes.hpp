// Erroneous calls are made in between. Each gets its error at once, and the next right call matches as if there had
// been none.
#pragma once

#include <string>

#include "case.hpp"
#include "communicators.hpp"

namespace circoll::torture {

/// True if this rank of a communicator of so many makes the call.
[[nodiscard]] bool makes(const Mistake& mistake, int rank, int size);

/// Makes the erroneous call. Returns what is wrong with what came of it; empty if nothing.
[[nodiscard]] std::string make_mistake(const Mistake& mistake, const Operation& operation, const Communicator& c);

}  // namespace circoll::torture
