// barrier/circulant: an allreduce of nothing.
//
// Idea      allreduce/circulant_idempotent on zero bytes: a rank may leave when it has heard, through others, of all
//           ranks. Its combinations move no bytes but keep the order of messages, so the proof of the allreduce (every
//           contribution arrives everywhere) is the proof of the barrier.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      q = ceil(log2 p) rounds; q messages sent and received per rank.
// Order     none.
// Source    dissemination on the circulant graph; Hensgen, Finkel, Manber 1988 for straight doubling.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::barrier_by_allreduce(b, "allreduce/circulant_idempotent"); }

Cost cost(const Shape& shape) {
  return patterns::cost_of_barrier_by_allreduce(shape, "allreduce/circulant_idempotent");
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, circulant) {
  return {
      .summary = "dissemination over the circulant graph",
      .source = "Hensgen, Finkel, Manber 1988, with roughly halving skips",
      .family = Family::circulant,
      .when = "every p: ceil(log2 p) rounds are the fewest",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "q", .reduced = "q"},
      .cost = cost,
      .build = build,
  };
}
