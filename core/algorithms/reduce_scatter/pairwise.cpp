// reduce_scatter(_block)/pairwise: every rank gives every other one its contribution to the other's block.
//
// Idea      In round i rank r sends block r + i of its contribution to r + i, and combines what comes from r
//           - i with its own block. No partial results travel: every message can leave at once.
// Shape     any p; p blocks of any sizes.
// Cost      p - 1 rounds; p - 1 blocks sent, received and combined per rank.
// Scratch   three blocks.
// Order     own, r - 1, r - 2, ...: commutative operators. A block is combined once.
// Source    Thakur, Rabenseifner, Gropp 2005, 4.3.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  Region sum = b.input(r, 1);
  if (p == 1) return b.copy(b.output(), sum);
  patterns::Arrivals arrivals(b, sum);
  for (Rank i = 1; i < p; ++i) {
    const Region arrived = arrivals.next();
    b.sendrecv((r + i) % p, b.input((r + i) % p, 1), patterns::mod(r - i, p), arrived);
    const Region next = i == p - 1 ? b.output() : arrived;
    b.reduce(next, arrived, sum);
    sum = next;
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .reduced = p - 1, .copied = p == 1 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, pairwise) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "own contributions straight to the rank that needs them",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::pairwise,
      .when = "never by cost: p - 1 rounds; for long blocks if all messages of a rank may be on their way at once",
      .peers = {mpich("pairwise")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::one_level,
      .build = build,
  };
}
