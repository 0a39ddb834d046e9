// allreduce/circulant_idempotent: for operators that do not mind counting a contribution twice.
//
// Idea      In every round a rank sends its whole sum so far to r - skips[k], and combines it with the sum of r +
//           skips[k]. Where skips[k + 1] is odd, one contribution counts twice. MIN, MAX, AND and OR give the same
//           result then. So one sum, and one combination per round, is enough.
// Shape     any p; one block.
// Cost      q = ceil(log2 p) rounds; q blocks sent, received and combined per rank.
// Scratch   three blocks.
// Order     commutative, idempotent operators. Ranks associate differently (no difference for exact operators).
// Source    folklore: dissemination with the roughly halving skips of Traff et al., Uniform Algorithms, III-A.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const int q = skips.q();
  if (q == 0) return b.copy(b.output(), b.input());
  const std::int32_t arrival[3] = {b.scratch(1, 0), b.scratch(1, 0), b.scratch(1, 0)};
  Region sum = b.input();
  for (int k = 0; k < q; ++k) {
    const Region in = b.region(arrival[k % 3]);
    b.sendrecv(patterns::mod(b.rank() - skips[k], p), sum, (b.rank() + skips[k]) % p, in);
    const Region next = k == q - 1 ? b.output() : in;
    b.reduce(next, sum, in);
    sum = next;
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = q, .sent = q, .received = q, .reduced = q, .copied = q == 0 && !shape.in_place ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, circulant_idempotent) {
  return {
      .summary = "min, max, and, or: ceil(log2 p) rounds, one combination each",
      .source = "folklore: dissemination, on the circulant graph",
      .family = Family::circulant,
      .when =
          "up to a few KiB: minimum, maximum, logical and bitwise operators, where circulant combines more often (p = "
          "11, 100)",
      .needs = {.commutative = true, .idempotent = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "q", .reduced = "q"},
      .cost = cost,
      .build = build,
  };
}
