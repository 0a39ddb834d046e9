// reduce_scatter(_block)/circulant_optimal: the reversal of allgather/circulant_optimal.
//
// Idea      R[i] names the partial result for block (r + i) mod p, at first the own contribution. For k = q-1 .. 0 rank
//           r sends R[s_k .. s_{k+1} - 1] to r + s_k and combines what comes from r - s_k into R[0 .. s_{k+1} - s_k -
//           1]. R[0] ends as the result. Ranges are cyclic, the first combination of a block reads the send buffer
//           directly (three addresses), the last one writes the result.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; exactly p - 1 blocks sent, received and combined per rank: optimal. For odd p >= 7
//           one block is copied, to keep the second message contiguous.
// Scratch   ceil(p/2) blocks of partial results, and two arrival buffers of at most p/2 and p/4 blocks.
// Order     operands combine in an order that depends on p only, up to rotation: commutative operators. A block is
//           combined once, so every rank that gets a copy of it later gets the same bits.
// Source    J. L. Traff, arXiv 2410.14234 (answers the question at the end of "Uniform Algorithms ...").
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/circulant_optimal", part_shape(b)), Reversal::reduce);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const bool copies = p == 1 || (p % 2 == 1 && p >= 7);
  return {
      .rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .reduced = p - 1, .copied = copies ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, circulant_optimal) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "halving cyclic ranges of partial results; round and volume optimal for every p",
      .source = "Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "operators that commute, every p and size: no fewer rounds, no less volume are possible",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
