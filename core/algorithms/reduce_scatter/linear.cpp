// reduce_scatter(_block)/linear: reduce to rank 0, then scatter(v)/linear from it.
//
// Idea      The definition, as a reference. The last combination writes the own block of rank 0 to its place.
// Shape     any p; p blocks of any sizes.
// Cost      2(p - 1) rounds; rank 0 receives and combines p(p - 1) blocks; the others send p.
// Scratch   four vectors at rank 0.
// Order     rank order, from left to right: any associative operator; reproducible bits.
// Source    folklore; Open MPI, coll/base, nonoverlapping.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  patterns::reduce_scatter_by_root(b, [&](const Region& all) { patterns::linear_reduce(b, all, b.input(), 0); });
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  if (p == 1) return {.copied = 1};
  return {.rounds = 2 * (p - 1), .sent = p, .received = p * (p - 1), .reduced = p * (p - 1)};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  return patterns::one_way_path(p, 2 * (p - 1), p * p - 1, p * (p - 1));
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, linear) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "reduce to rank 0, then scatter, both linear",
      .source = "folklore",
      .family = Family::linear,
      .when = "never by cost: p vectors through rank 0. Measured, 4 hosts of 4 ranks: up to 362 bytes",
      .peers = {openmpi("non-overlapping", {Collective::reduce_scatter}),
                openmpi("basic_linear", {Collective::reduce_scatter_block})},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::one_way({.rounds = "2(p-1)", .sent = "p", .reduced = "p(p-1)"}, "p^2-1"),
      .cost = cost,
      .path = path,
      .levels = patterns::two_levels,
      .build = build,
  };
}
