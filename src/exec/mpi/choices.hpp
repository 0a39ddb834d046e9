// What shall serve a call, read once: a policy ("auto" if none is given), "native", or an algorithm with parameters.
#pragma once

#include <string>

#include "circoll/buffers.hpp"
#include "circoll/select.hpp"
#include "circoll/types.hpp"

namespace circoll::mpi {

/// A choice that lives as long as the process, so that its address names it in plan caches.
struct Interned {
  enum class Kind { automatic, native, algorithm };
  Kind kind = Kind::automatic;
  Collective collective = Collective::barrier;
  std::string text;                ///< how the choice is spelled; empty if it is a policy
  Selection selection{};           ///< of an algorithm
  const Policy* policy = nullptr;  ///< of automatic
};

/// The interned form of a choice for a collective. Empty text or "auto" is automatic, with the default policy. A policy
/// must live as long as the process. Throws what
/// parse_selection throws. A repeated choice costs a comparison and allocates nothing. Thread-safe.
[[nodiscard]] const Interned* intern(Collective collective, const Choice& choice);

}  // namespace circoll::mpi
