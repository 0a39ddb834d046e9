// The schedules under proof, and the claims about them.
#pragma once

#include <span>

#include "circoll/schedule.hpp"
#include "circoll/verify.hpp"
#include "symbolic/contributions.hpp"
#include "symbolic/refuted.hpp"

namespace circoll::verify {

using symbolic::Refuted;

/// The schedules of all ranks of one call. What it refers to must outlive it.
struct Subject {
  std::span<const Schedule> ranks;
  const Claims& claims;

  [[nodiscard]] Rank size() const { return static_cast<Rank>(ranks.size()); }
  [[nodiscard]] const Schedule& of(Rank rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Collective collective() const { return ranks[0].collective; }
  /// Each rank contributes to every block: reductions, and the barrier, which is one of no bytes.
  [[nodiscard]] bool by_rank() const { return symbolic::contributes_to_all(collective()); }
  /// Contributions must be combined in the order of ranks.
  [[nodiscard]] bool ordered() const { return claims.guarantees.rank_order || !claims.needs.commutative; }
  [[nodiscard]] bool at_least_once() const { return claims.needs.idempotent || collective() == Collective::barrier; }
};

}  // namespace circoll::verify
