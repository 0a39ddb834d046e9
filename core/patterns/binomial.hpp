// Binomial trees: rank v (relative to the root) is the child of v without its lowest bit.
#pragma once

#include "circoll/builder.hpp"

namespace circoll::patterns {

/// Writes ceil(log2 p) rounds in which `data` goes from the root to all ranks, the longest edges first.
void binomial_bcast(Builder& builder, const Region& data, Rank root);

/// Writes ceil(log2 p) rounds in which block i of `all` (p blocks) goes from the root to rank i. Every rank
/// keeps what passes through it.
void binomial_scatter(Builder& builder, const Region& all, Rank root);

/// The most blocks that a rank but the root receives in a binomial scatter, or sends in a binomial gather.
[[nodiscard]] std::int64_t binomial_most(Rank p);

}  // namespace circoll::patterns
