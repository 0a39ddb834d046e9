// reduce/chain: the reversal of bcast/chain.
//
// Idea      Partial results of segments come up several chains of ranks; the root combines those of their heads.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      f n + floor((p - 1) / f) - 1 rounds, f = min(fanout, p - 1); the root receives and combines f n blocks.
// Scratch   the vector at ranks that are not the root, and some segments.
// Order     not that of ranks: commutative operators.
// Source    Open MPI, coll/base, reduce_intra_chain.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;
constexpr ParamDeclaration fanout{
    .name = "fanout", .minimum = 1, .maximum = 1 << 20, .fallback = 4, .summary = "number of chains"};

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, "bcast/chain", part_shape(b)), Reversal::reduce);
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/chain"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/chain"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, chain) {
  return {
      .summary = "segments up several chains",
      .source = "Open MPI, coll/base",
      .family = Family::chain,
      .when = "never by cost: several pipelines are slower than circulant_pipelined, and than one for long vectors",
      .peers = {openmpi("chain")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "f n + floor((p-1)/f) - 1, f = min(fanout, p-1)",
                  .sent = "n",
                  .reduced = "n min(fanout, p-1)",
                  .two_way = "rounds - one_way",
                  .one_way = "rounds - [fanout=1][n>1][p>2](rounds-2)",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments, fanout},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
