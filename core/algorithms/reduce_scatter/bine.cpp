// reduce_scatter(_block)/bine: the reversal of allgather/bine.
//
// Idea      A rank combines for an interval of ranks, which halves in each round. The longest distance comes first.
//           Each message is a cyclic range of partial results.
// Shape     even p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; exactly p - 1 blocks sent, received and combined per rank: optimal.
// Scratch   the blocks of partial results, and two arrival buffers of one message each.
// Order     an order that depends on p and on whether the rank is even: commutative operators. A block is combined
//           once.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any even p, as allgather/bine.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/bine", part_shape(b)), Reversal::reduce, {.gather_strays = false});
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .reduced = p - 1};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, bine) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "halving cyclic ranges with partners a third closer than in recursive halving",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::recursive_doubling,
      .when = "never by cost: no price for distance; as fast as circulant_optimal, but most blocks go far",
      .automatic = false,
      .needs = {.commutative = true, .even_size = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "q", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
