// reduce/circulant: the paper's reduction to a root, allreduce/circulant without what the root does not need.
//
// Idea      A rank takes part until the first round from which a path of the pattern's jumps leads to the root. In that
//           round it sends its sum and is done. If skips[k + 1] is odd in that round, its sum must leave out its own
//           contribution, which the rank has sent ahead in round 0.
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds. The root receives and combines q blocks, and other ranks send one block or two.
//           There are up to about twice the p - 1 messages that are needed (reduce/circulant_tree needs p - 1).
// Scratch   three blocks.
// Order     commutative operators.
// Source    Traff et al., Uniform Algorithms, III-C, Listings 3 and 4, with the precedence of the parity tests put
//           right, source and destination told apart, and scratch at non-roots.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"

namespace {

using namespace circoll;

/// The first round in which rank v (relative to the root) can reach the root by jumps of increasing rounds. It is q for
/// the root itself.
int path_head(Rank v, const patterns::Skips& skips) {
  if (v == 0) return skips.q();
  Rank covered = 0;
  for (int k = skips.q() - 1; k >= 0; --k) {
    const Rank reach = covered + skips.jump(k);
    if (reach == v) return k;
    if (reach < v) covered = reach;
  }
  return 0;
}

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const int q = skips.q();
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  if (p == 1) return b.copy(b.output(), b.input());
  const int head = path_head(v, skips);
  const bool excludes_own = head < q && skips.odd(head);

  const std::int32_t arrival[3] = {b.scratch(1, 0), b.scratch(1, 0), b.scratch(1, 0)};
  Region sum = excludes_own && head > 0 ? Region{} : b.input();
  for (int k = 0; k < q; ++k) {
    const Rank e = skips.odd(k) ? 1 : 0;
    const Rank to = patterns::mod(b.rank() - skips[k] + e, p);
    if (k == head) b.send(to, sum);
    if (k == 0 && k < head && excludes_own) b.send(to, b.input());
    if (k < head) {
      const Region in = b.region(arrival[k % 3]);
      b.recv((b.rank() + skips[k] - e) % p, in);
      if (sum.empty()) {
        sum = in;
      } else {
        const Region next = v == 0 && k == q - 1 ? b.output() : in;
        b.reduce(next, sum, in);
        sum = next;
      }
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const patterns::Skips skips(shape.size);
  const std::int64_t q = skips.q();
  bool any_odd = false;
  for (int k = 0; k < skips.q(); ++k) any_odd = any_odd || skips.odd(k);
  const std::int64_t sent = any_odd ? 2 : 1;
  return {
      .rounds = q, .sent = q == 0 ? 0 : sent, .received = q, .reduced = q, .copied = q == 0 && !shape.in_place ? 1 : 0};
}

/// Only in round 0 do ranks send their own contribution ahead while they receive.
CriticalPath path(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  const std::int64_t ahead = cost(shape).sent > 1 ? 1 : 0;
  return {.one_way = q - ahead, .volume = ahead, .one_way_volume = q - ahead, .combined = q};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, circulant) {
  return {
      .summary = "the paper's reduction to a root in ceil(log2 p) rounds",
      .source = "Traff et al., Uniform Algorithms, III-C, Listings 3 and 4",
      .family = Family::circulant,
      .when = "p a power of two, up to 2 or 4 KiB, operators that commute: as fast as binomial; every size for p = 2",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "ceil(log2 p)",
                  .sent = "1 + [r>0]",
                  .reduced = "q",
                  .two_way = "[r>0]",
                  .one_way = "q - [r>0]",
                  .volume = "[r>0]",
                  .one_way_volume = "q - [r>0]"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
