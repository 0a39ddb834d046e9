// allreduce/linear: reduce/linear to rank 0, then bcast/linear from it.
//
// Idea      The definition, as a reference; for very few ranks.
// Shape     any p; one block.
// Cost      2(p - 1) rounds; rank 0 sends, receives and combines p - 1 blocks.
// Scratch   three blocks.
// Order     rank order, from left to right: any associative operator; same, reproducible bits.
// Source    Open MPI, coll/base, basic_linear.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::allreduce_by_root(b, "reduce/linear", "bcast/linear"); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = 2 * (p - 1),
          .sent = p - 1,
          .received = p - 1,
          .reduced = p - 1,
          .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_root(shape, "reduce/linear", "bcast/linear"); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, linear) {
  return {
      .summary = "reduce to rank 0, then bcast, both linear",
      .source = "Open MPI, coll/base",
      .family = Family::linear,
      .when = "never by cost: 2(p-1) rounds; the definition, for comparison",
      .peers = {openmpi("basic_linear")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula =
          patterns::one_way({.rounds = "2(p-1)", .sent = "p-1", .reduced = "p-1", .one_way = "2(p-1)"}, "2(p-1)"),
      .cost = cost,
      .path = path,
      .levels = patterns::two_levels,
      .build = build,
  };
}
