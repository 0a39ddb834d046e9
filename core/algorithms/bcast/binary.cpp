// bcast/binary: segments go down a binary tree.
//
// Idea      Ranks v relative to the root are the nodes of a binary tree in level order: v sends to 2v + 1 and
//           2v + 2, every segment to one and, a round later, to the other.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      2(n - 1) + h rounds, where h < 2 log2 (p + 1) is the most rounds from the root to a rank. Inner ranks send
//           2n blocks. (p = 2: n rounds, n blocks.)
// Scratch   none.
// Order     no operator.
// Source    Open MPI, coll/base, bcast_intra_bintree.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::segments;

/// Rounds between two segments: both children must be served.
std::int64_t period_of(Rank p) { return p > 2 ? 2 : 1; }

std::int64_t rounds_of(Rank p, std::int64_t n) { return period_of(p) * (n - 1) + patterns::heap_height(p); }

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  if (p == 1) return;
  const auto rank_at = [&](Rank node) { return (node - 1 + b.root()) % p; };
  const Rank node = patterns::mod(b.rank() - b.root(), p) + 1;
  const std::int64_t rounds = rounds_of(p, n);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto segment = [&](Rank receiver) {
      return patterns::segment_in(round, patterns::heap_delay(receiver) - 1, period_of(p), n);
    };
    for (Rank child = 2 * node; child <= std::min(2 * node + 1, p); ++child) {
      if (segment(child) >= 0) b.send(rank_at(child), b.output(segment(child), 1));
    }
    if (node > 1 && segment(node) >= 0) b.recv(rank_at(node / 2), b.output(segment(node), 1));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {};
  return {.rounds = rounds_of(p, n), .sent = p > 2 ? 2 * n : n, .received = n};
}

/// A rank that has two children sends to the second one while it receives the next segment but one. Ranks with two
/// children lie d = 1, 2, ... rounds from the root, without a gap, and up to h - 2. If there are two such d, all rounds
/// but two at either end go both ways. If there is one, every other round does.
CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.blocks = n};
  const std::int64_t rounds = rounds_of(p, n);
  const std::int64_t both = n == 1 || p < 5 ? 0 : p < 7 ? n - 1 : rounds - 4;
  return patterns::pipelined_path(n, rounds, rounds - both);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, binary) {
  return {
      .summary = "segments down a binary tree; medium vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "never by cost: circulant_pipelined has no more rounds at any number of segments; for comparison",
      .peers = {openmpi("binary_tree")},
      .formula = {.rounds = "(1+[p>2])(n-1) + h, h = floor(log2(p+1)) + floor(log2(2(p+1)/3)) - 1",
                  .sent = "n(1+[p>2])",
                  .reduced = "0",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "[n>1]([p>6](rounds-4) + [p>4][p<7](n-1))",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
