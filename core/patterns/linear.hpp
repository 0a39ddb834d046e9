// One rank talks to all others, in the order of ranks, one per round.
#pragma once

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// Writes p - 1 rounds in which the root sends `data` to every other rank.
void linear_bcast(Builder& builder, const Region& data, Rank root);

/// Writes p - 1 rounds in which the root receives the contribution `from` of every other rank. It combines them in the
/// order of ranks into `to` (which is not read, and only written last). `to` matters at the root only.
void linear_reduce(Builder& builder, const Region& to, const Region& from, Rank root);

}  // namespace circoll::patterns
