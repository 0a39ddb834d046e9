// reduce_scatter(_block)/direct: every rank gets all contributions to its block, and combines them in the order of
// ranks.
//
// Idea      In round i rank r sends block r + i of its contribution to r + i, and receives one from r - i. No message
//           waits for anything, so that all can leave at once, and the receivers take turns. Where ranks share memory
//           a contribution is read once and never passed on.
// Shape     any p; p blocks of any sizes.
// Cost      p - 1 rounds; p - 1 blocks sent, received and combined per rank.
// Scratch   p - 1 blocks.
// Order     rank order, from left to right, whatever p is: any associative operator; reproducible bits. So the bits of
//           a result depend neither on the size of a vector nor on how it is cut.
// Source    folklore. Differs from reduce_scatter/pairwise, which
//           combines as messages come, in another order on every rank, and needs three blocks.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const patterns::DirectOperands operands(b, r, b.input(r, 1));
  for (Rank i = 1; i < p; ++i) {
    const Rank to = (r + i) % p;
    const Rank from = patterns::mod(r - i, p);
    b.sendrecv(to, b.input(to, 1), from, operands.of(from));
    // In the round of the last message, so that this one is combined as it arrives.
    if (i == p - 1) operands.combine_into(b.output());
    b.next_round();
  }
  if (p == 1) operands.combine_into(b.output());
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .reduced = p - 1, .copied = p == 1 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, direct) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "all contributions straight to the rank that combines them, in the order of ranks",
      .source = "folklore",
      .family = Family::pairwise,
      .when =
          "operators that do not commute, p not a power of two: every size (p = 3), from 8 KiB (p = 5) to 2 MiB (p = "
          "24 to 100) on; least volume",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::one_level,
      .build = build,
  };
}
