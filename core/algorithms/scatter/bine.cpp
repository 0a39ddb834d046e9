// scatter(v)/bine: the reversal of gather(v)/bine.
//
// Idea      A rank receives the blocks of its subtree from its parent, which is a third closer than in a binomial tree.
//           It keeps its own block, and passes on half of the others in every round.
// Shape     any p, any root; p blocks of any sizes. In scatterv only the root knows the sizes: the executor
//           first runs the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds; the root sends p - 1 blocks; a rank receives floor(p/2) blocks at most.
// Scratch   the blocks that pass through a rank, floor(p/2) at most.
// Order     no operator.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any p, as bcast/bine.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "gatherv/bine", part_shape(b)), Reversal::move); }
Cost cost(const Shape& shape) { return patterns::cost_of_reversed(shape, "gather/bine"); }
CriticalPath path(const Shape& shape) { return patterns::path_of_reversed(shape, "gather/bine"); }

}  // namespace

CIRCOLL_ALGORITHM(scatter, bine) {
  return {
      .collectives = {Collective::scatter, Collective::scatterv},
      .summary = "binomial tree of cyclic ranges, over distances a third shorter",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::tree,
      .when =
          "never by cost: no price for distance; short blocks: as many rounds as binomial, distances a third shorter",
      .automatic = false,
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
