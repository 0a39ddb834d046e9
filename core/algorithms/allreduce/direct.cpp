// allreduce/direct: every rank sends its vector to every other one, and all combine all of them.
//
// Idea      For a few bytes and few ranks that share memory one exchange is enough: all messages leave at once, and
//           every rank computes the same expression x0 op x1 op ... op x(p-1).
// Shape     any p; one block.
// Cost      p - 1 rounds, none of which waits for another; p - 1 blocks sent, received and combined per rank.
// Scratch   p - 1 blocks.
// Order     rank order, from left to right: any associative operator; same, reproducible bits on all ranks.
// Source    folklore. Differs from allreduce/allgather_reduce, which passes vectors on in ceil(log2 p) rounds.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const patterns::DirectOperands operands(b, 0, b.input());
  for (Rank i = 1; i < p; ++i) {
    const Rank from = patterns::mod(r - i, p);
    b.sendrecv((r + i) % p, b.input(), from, operands.of(from));
    // In the round of the last message, so that this one is combined as it arrives.
    if (i == p - 1) operands.combine_into(b.output());
    b.next_round();
  }
  if (p == 1) operands.combine_into(b.output());
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .reduced = p - 1, .copied = patterns::lonely_copy(shape)};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, direct) {
  return {
      .summary = "few ranks, tiny vectors: every vector to every rank, combined in the order of ranks",
      .source = "folklore",
      .family = Family::pairwise,
      .when =
          "p = 2 and 3: up to 8 KiB, every operator, the same bits; few ranks that share memory, where no message "
          "waits for another",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::one_level,
      .build = build,
  };
}
