// reduce_scatter(_block)/swing: the reversal of allgather/swing.
//
// Idea      Half of the blocks go to a neighbour first, and one block goes far at the end: distances 1, 1, 3, 5, 11,
//           ... to both sides in turn.
// Shape     even p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; exactly p - 1 blocks sent, received and combined per rank: optimal.
// Scratch   the blocks of partial results, and two arrival buffers of one message each.
// Order     an order that depends on p and on whether the rank is even: commutative operators. A block is combined
//           once.
// Source    De Sensi et al., Swing, NSDI 2024; for even p the authors' code, as allgather/swing.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/swing", part_shape(b)), Reversal::reduce, {.gather_strays = false});
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .reduced = p - 1};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, swing) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "exchanges over 1, 1, 3, 5, 11, ... ranks, the shortest first; half of the blocks go to a neighbour",
      .source = "De Sensi et al., Swing, NSDI 2024",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .needs = {.commutative = true, .even_size = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "q", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .build = build,
  };
}
