// reduce_scatter(_block)/pat: the reversal of allgather/pat.
//
// Idea      Partial results go up a binomial tree for every block, over the distances 1, 2, 4, ... Many blocks go near
//           first, and few go far. All trees take the same distance in the same round.
// Shape     any p; p blocks of any sizes.
// Cost      as many rounds as allgather/pat; exactly p - 1 blocks sent, received and combined per rank: optimal.
// Scratch   less than p blocks, half of which hold partial results, and two arrival buffers of one message each.
// Order     an order that depends on p only, up to rotation: commutative operators. A block is combined once.
// Source    S. Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252
//           (NCCL 2.23). Differs: as allgather/pat; scratch is not limited by `aggregate`.
#include "patterns/pat.hpp"
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  append_reversed(b, build_part(b, "allgatherv/pat", part_shape(b)), Reversal::reduce, {.gather_strays = false});
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::pat_rounds(shape),
          .sent = p - 1,
          .received = p - 1,
          .reduced = p - 1,
          .copied = p == 1 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, pat) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "up a binomial tree for every block, the shortest edges first; few blocks go far",
      .source = "Jeaugey, arXiv 2506.20252",
      .family = Family::dissemination,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::pat_rounds_formula, .sent = "p-1", .reduced = "p-1"},
      .params = {patterns::aggregate},
      .cost = cost,
      .build = build,
  };
}
