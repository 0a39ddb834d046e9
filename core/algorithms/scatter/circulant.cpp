// scatter(v)/circulant: the reversal of gather(v)/circulant.
//
// Idea      The root sends the blocks s_k .. s_{k+1} - 1 (relative to it) to rank s_k, for k = q-1 .. 0. Each rank
//           passes on all blocks but its own.
// Shape     any p, any root; p blocks of any sizes. In scatterv only the root knows the sizes. So the executor first
//           runs the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds. The root sends p - 1 blocks, and a rank receives floor(p/2) blocks at most. There
//           are p - 1 messages in all.
// Scratch   the blocks that pass through a rank, floor(p/2) at most.
// Order     no operator.
// Source    Traff et al., Uniform Algorithms, III-F, as a reversal.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "gatherv/circulant", part_shape(b)), Reversal::move); }

Cost cost(const Shape& shape) { return patterns::cost_of_reversed(shape, "gather/circulant"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed(shape, "gather/circulant"); }

std::int64_t levels(const Shape& shape) { return patterns::levels_of_tree(patterns::Skips(shape.size)); }

}  // namespace

CIRCOLL_ALGORITHM(scatter, circulant) {
  return {
      .collectives = {Collective::scatter, Collective::scatterv},
      .summary = "a tree of contiguous ranges in the circulant graph",
      .source = "Traff et al., Uniform Algorithms, III-F",
      .family = Family::circulant,
      .when = "short blocks, and every size inside a node: q rounds, every block of other ranks leaves the root once",
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = path,
      .levels = levels,
      .build = build,
  };
}
