// The contributions of the ranks to the blocks of a collective.
#pragma once

#include "circoll/collectives.hpp"
#include "circoll/schedule.hpp"

namespace circoll::symbolic {

/// True if each rank contributes to every block: in reductions, and in the barrier, which is one of no bytes.
[[nodiscard]] inline bool contributes_to_all(Collective collective) {
  return is_reducing(collective) || collective == Collective::barrier;
}

/// The rank that contributes a block of a collective in which only one does.
[[nodiscard]] inline Rank contributor(const Schedule& s, Block block) {
  const Block user_block = block / s.segments;
  if (is_exchange(s.collective)) return user_block / s.shape.size;
  const bool from_root =
      s.collective == Collective::bcast || s.collective == Collective::scatter || s.collective == Collective::scatterv;
  return from_root ? s.shape.root : user_block;
}

}  // namespace circoll::symbolic
