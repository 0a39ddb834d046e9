// reduce/binary: the reversal of bcast/binary.
//
// Idea      Partial results of segments come up a binary tree of ranks in level order.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      2(n - 1) + h rounds, h < 2 log2 (p + 1); inner ranks receive and combine 2n blocks. (p = 2: n rounds.)
// Scratch   the vector at ranks that are not the root, and some segments.
// Order     not that of ranks: commutative operators. In rank order: reduce/split_binary.
// Source    Open MPI, coll/base, reduce_intra_binary.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, "bcast/binary", part_shape(b)), Reversal::reduce);
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/binary"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/binary"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, binary) {
  return {
      .summary = "segments up a binary tree; medium vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "never by cost: circulant_pipelined has no more rounds at any number of segments; for comparison",
      .peers = {openmpi("binary")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "(1+[p>2])(n-1) + h, h = floor(log2(p+1)) + floor(log2(2(p+1)/3)) - 1",
                  .sent = "n",
                  .reduced = "n(1+[p>2])",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "[n>1]([p>6](rounds-4) + [p>4][p<7](n-1))",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
