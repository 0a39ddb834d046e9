// allreduce/circulant: the direct allreduce in ceil(log2 p) rounds on the circulant graph.
//
// Idea      After round k a rank knows E = the sum over the next skips[k + 1] - 1 ranks, its own contribution V left
//           out. If skips[k + 1] is even, V + E of rank r + skips[k] extends it. If it is odd, E of rank r + skips[k] -
//           1 extends it. The paper keeps both sums in every round. Here a rank keeps only E while an odd round is
//           still to come, and forms V + E only to send it or as the result. After the last odd round it keeps only V +
//           E. A rank writes a sum over the message that arrived (three addresses). So no sum is copied, and none waits
//           for a message that still leaves from its operand.
// Shape     any p; one block.
// Cost      q = ceil(log2 p) rounds. A rank sends and receives q blocks and combines q + e blocks, where e is the
//           number of even skips[k + 1] for 0 < k < K, and K is the last round with odd skips[k + 1]. (The paper
//           combines 2q - 1 blocks, or pruned q + K - 1.)
// Scratch   four blocks.
// Order     every rank combines in cyclic order from itself: commutative operators, and ranks may get different bits of
//           a floating-point sum.
// Source    Traff et al., Uniform Algorithms, III-B, Listing 2, with source r + skips[k] - e and destination r -
//           skips[k] + e (the listing uses one name for both). Pattern: Bar-Noy, Kipnis, Schieber 1993.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"

namespace {

using namespace circoll;

int last_odd_round(const patterns::Skips& skips) {
  int last = -1;
  for (int k = 0; k < skips.q(); ++k) last = skips.odd(k) ? k : last;
  return last;
}

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const int q = skips.q();
  if (q == 0) return b.copy(b.output(), b.input());
  const int last_odd = last_odd_round(skips);

  // Three arrival buffers in turn: the sum of two rounds ago may still be leaving.
  const std::int32_t arrival[3] = {b.scratch(1, 0), b.scratch(1, 0), b.scratch(1, 0)};
  const Region with_own = b.region(b.scratch(1, 0));
  Region others;           // E, while k <= last_odd
  Region sum = b.input();  // V + E, after it
  for (int k = 0; k < q; ++k) {
    const Region in = b.region(arrival[k % 3]);
    const Rank e = skips.odd(k) ? 1 : 0;
    const bool final = k == q - 1;
    Region out = k > last_odd || k == 0 ? sum : others;
    if (k > 0 && k < last_odd && e == 0) {
      b.reduce(with_own, b.input(), others);
      out = with_own;
    }
    b.sendrecv(patterns::mod(b.rank() - skips[k] + e, p), out, (b.rank() + skips[k] - e) % p, in);
    if (k > last_odd) {
      const Region next = final ? b.output() : in;
      b.reduce(next, sum, in);
      sum = next;
    } else {
      if (k > 0) b.reduce(in, others, in);
      others = in;
      if (k == last_odd) {
        const Region next = final ? b.output() : with_own;
        b.reduce(next, b.input(), others);
        sum = next;
      }
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const patterns::Skips skips(shape.size);
  const int q = skips.q();
  std::int64_t formed = 0;
  for (int k = 1; k < last_odd_round(skips); ++k) formed += skips.odd(k) ? 0 : 1;
  return {.rounds = q, .sent = q, .received = q, .reduced = q + formed, .copied = q == 0 && !shape.in_place ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, circulant) {
  return {
      .summary = "direct, ceil(log2 p) rounds of the whole vector; for short vectors and exact operators",
      .source = "Traff et al., Uniform Algorithms, III-B, Listing 2",
      .family = Family::circulant,
      .when = "up to a few KiB, every p, operators that commute and are exact on the type",
      .needs = {.commutative = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "q", .reduced = "q + max(0, ones(p-1) - twos(p) - 1)"},
      .cost = cost,
      .build = build,
  };
}
