// scatter(v)/binomial: the reversal of gather(v)/binomial.
//
// Idea      Rank v (relative to the root) receives the blocks of its subtree from its parent, keeps its own
//           and passes on half of what it has in every round.
// Shape     any p, any root; p blocks of any sizes. In scatterv only the root knows the sizes: the executor
//           first runs the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds; the root sends p - 1 blocks; a rank receives max(p - 2^(q-1), 2^(q-2))
//           at most.
// Scratch   the blocks of the subtree, 2^(q-1) at most.
// Order     no operator.
// Source    folklore; Thakur, Rabenseifner, Gropp 2005, 4.2.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "gatherv/binomial", part_shape(b)), Reversal::move); }

Cost cost(const Shape& shape) { return patterns::cost_of_reversed(shape, "gather/binomial"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed(shape, "gather/binomial"); }

}  // namespace

CIRCOLL_ALGORITHM(scatter, binomial) {
  return {
      .collectives = {Collective::scatter, Collective::scatterv},
      .summary = "binomial tree of cyclic ranges",
      .source = "folklore",
      .family = Family::tree,
      .when = "p that is no power of two: short blocks, since it has fewer levels than circulant",
      .peers = {openmpi("binomial", {Collective::scatter}), mpich("binomial", {Collective::scatter})},
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
