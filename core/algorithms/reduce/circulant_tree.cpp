// reduce/circulant_tree: every rank but the root sends exactly once.
//
// Idea      Rank v (relative to the root) sends its sum to v - s_K, with s_K the largest skip <= v, after it has
//           received from v + s_k for all k > K with v + s_k < s_{k+1}; rounds run from the longest skip to the
//           shortest.
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds; p - 1 messages and p - 1 combinations in all, q of them at the root.
// Scratch   three blocks.
// Order     commutative operators.
// Source    the reversed one-block circulant broadcast tree; J. L. Traff, arXiv 2407.18004.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const int q = skips.q();
  if (p == 1) return b.copy(b.output(), b.input());
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  int parent = -1;
  for (int k = 0; k < q; ++k) parent = skips[k] <= v ? k : parent;

  const std::int32_t arrival[3] = {b.scratch(1, 0), b.scratch(1, 0), b.scratch(1, 0)};
  Region sum = b.input();
  for (int k = q - 1; k >= 0; --k) {
    if (k == parent) b.send(patterns::mod(b.rank() - skips[k], p), sum);
    if (k > parent && v + skips[k] < skips[k + 1]) {
      const Region in = b.region(arrival[k % 3]);
      b.recv((b.rank() + skips[k]) % p, in);
      const Region next = v == 0 && k == 0 ? b.output() : in;
      b.reduce(next, sum, in);
      sum = next;
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {
      .rounds = q, .sent = q == 0 ? 0 : 1, .received = q, .reduced = q, .copied = q == 0 && !shape.in_place ? 1 : 0};
}

CriticalPath path(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return patterns::one_way_path(1, q, q, q);
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, circulant_tree) {
  return {
      .summary = "a tree in the circulant graph: p-1 messages in all, ceil(log2 p) rounds",
      .source = "reversed one-block broadcast of Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "never by cost: circulant_pipelined with one segment, with its rounds and messages",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "1", .reduced = "q", .one_way = "q"}, "q"),
      .cost = cost,
      .path = path,
      .build = build,
  };
}
