// reduce/circulant_pipelined: the reversal of bcast/circulant_pipelined.
//
// Idea      Every edge of the broadcast is used in the other direction, rounds in opposite order: a rank sends its
//           partial result of a block where it would have received the block, and combines where it would have sent.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      n - 1 + q rounds, q = ceil(log2 p); p - 1 messages per block in all. A non-root sends each block once.
// Scratch   the vector at non-roots, and four arrival buffers of one block.
// Order     commutative operators.
// Source    reversal of J. L. Traff, arXiv 2407.18004.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, "bcast/circulant_pipelined", part_shape(b)), Reversal::reduce, {.depth = 4});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/circulant_pipelined"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/circulant_pipelined"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, circulant_pipelined) {
  return {
      .summary = "the reversed n-block broadcast: n-1+ceil(log2 p) rounds, p-1 messages per block",
      .source = "reversal of Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "operators that commute: every size if p is not a power of two, else from 4 or 8 KiB on",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "n-1+ceil(log2 p)",
                  .sent = "n",
                  .reduced = "n-1+q",
                  .two_way = "rounds - one_way",
                  .one_way = "<= 2q + [p=2]n",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
