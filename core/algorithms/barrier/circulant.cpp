// barrier/circulant: an allreduce of nothing.
//
// Idea      allreduce/circulant_idempotent on zero bytes: a rank may leave when it has heard, through others, of all
//           ranks. Its combinations move no bytes but keep the order of messages, so the proof of the allreduce (every
//           contribution arrives everywhere) is the proof of the barrier.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      q = ceil(log2 p) rounds; q messages sent and received per rank.
// Order     none.
// Source    dissemination on the circulant graph; Hensgen, Finkel, Manber 1988 for straight doubling.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  b.embed(build_schedule("allreduce/circulant_idempotent", {.size = b.size(), .rank = b.rank()}),
          {.send = b.input(), .recv = b.output()});
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = q, .sent = q, .received = q, .reduced = q, .copied = q == 0 ? 1 : 0};
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
