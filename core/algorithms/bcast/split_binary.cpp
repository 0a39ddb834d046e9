// bcast/split_binary: halves of the vector go down two binary trees, whose ranks exchange them in the end.
//
// Idea      Ranks v relative to the root: the odd ones form one binary tree in level order, the even ones
//           another. The root sends segments of the first half to the one and of the second half to the other
//           in turn, so that every rank receives n segments only. Then 2i - 1 and 2i exchange halves. If p is
//           even, the last rank gets its second half from the root.
// Shape     any p, any root; the vector cut into 2n blocks, n = segments of each half.
// Cost      2(n - 1) + h + 1 rounds, h < 2 log2 p; 2n blocks received per rank, 3n sent at most. (p = 2: n +
//           1 rounds.)
// Scratch   none.
// Order     no operator.
// Source    Pjesivac-Grbovic: Towards Automatic and Adaptive Optimizations of MPI Collective Operations,
//           2007; Open MPI, coll/base, bcast_intra_split_bintree. Differs: there the trees are the subtrees
//           of one tree in level order, of uneven sizes; listings say nr < trunc(N - 1) where all pairs 1 <=
//           nr <= 2 floor((N - 1) / 2) are meant.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that each half of the vector is cut into");

std::int64_t period_of(Rank p) { return p > 2 ? 2 : 1; }

/// Nodes of the tree of odd (side 0) and of even (side 1) ranks relative to the root.
Rank nodes_of(Rank p, Rank side) { return (p - side) / 2; }

/// Rounds until both halves have gone down.
std::int64_t rounds_of(Rank p, std::int64_t n) {
  std::int64_t longest = 0;
  for (Rank side = 0; side < 2; ++side) {
    if (nodes_of(p, side) > 0) longest = std::max(longest, side + patterns::heap_height(nodes_of(p, side)));
  }
  return period_of(p) * (n - 1) + longest + 1;
}

void build(Builder& b) {
  const std::int64_t n = b.param(segments.name, segments.fallback);
  b.cut(2 * n);
  const Rank p = b.size();
  if (p == 1) return;
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  const auto rank_at = [&](Rank side, Rank node) { return (2 * node - 1 + side + b.root()) % p; };
  const Rank side = v % 2 == 1 ? 0 : 1;
  const Rank node = (v + 1) / 2;
  const std::int64_t rounds = rounds_of(p, n);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto segment = [&](Rank of_side, Rank receiver) {
      return patterns::segment_in(round, patterns::heap_delay(receiver) + of_side, period_of(p), n);
    };
    const auto send = [&](Rank of_side, Rank receiver) {
      const std::int64_t s = receiver <= nodes_of(p, of_side) ? segment(of_side, receiver) : -1;
      if (s >= 0) b.send(rank_at(of_side, receiver), b.output(of_side * n + s, 1));
    };
    if (v == 0) {
      send(0, 1);
      send(1, 1);
    } else {
      send(side, 2 * node);
      send(side, 2 * node + 1);
      const std::int64_t s = segment(side, node);
      const Rank parent = node == 1 ? b.root() : rank_at(side, node / 2);
      if (s >= 0) b.recv(parent, b.output(side * n + s, 1));
    }
    b.next_round();
  }
  const bool unpaired = p % 2 == 0;  // the last rank
  if (v == 0) {
    if (unpaired) b.send(patterns::mod(b.rank() - 1, p), b.output(n, n));
  } else if (unpaired && v == p - 1) {
    b.recv(b.root(), b.output(n, n));
  } else {
    const Rank other = rank_at(1 - side, node);
    b.sendrecv(other, b.output(side * n, n), other, b.output((1 - side) * n, n));
  }
  b.next_round();
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {};
  const std::int64_t root = p == 2 || p % 2 == 1 ? 2 * n : 3 * n;
  const std::int64_t inner = n + n * std::min<Rank>(2, nodes_of(p, 0) - 1);  // the rank after the root
  return {.rounds = rounds_of(p, n) + 1, .sent = std::max(root, p > 2 ? inner : 0), .received = 2 * n};
}

/// The trees do as those of bcast/binary, one round apart, but here their first ranks receive too. Then the halves
/// are exchanged.
CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.blocks = 2 * n};
  const std::int64_t rounds = rounds_of(p, n);
  const std::int64_t both = n == 1 || p < 6 ? 0 : p < 7 ? n - 1 : rounds - 4;
  CriticalPath path = patterns::pipelined_path(2 * n, rounds, rounds - both);
  if (p == 2) ++path.one_way;
  (p == 2 ? path.one_way_volume : path.volume) += n;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, split_binary) {
  return {
      .summary = "halves down two binary trees, then a pairwise exchange; long vectors",
      .source = "Pjesivac-Grbovic 2007",
      .family = Family::tree,
      .when = "never by cost: half the volume of binary, but more rounds than circulant_pipelined; for comparison",
      .peers = {openmpi("split_binary_tree")},
      .formula = {.rounds = "(1+[p>2])(n-1) + h + 1, h = floor(log2(p+1)) + floor(log2(2(p+1)/3)) - 1",
                  .sent = "n(3 - [p<4] - [p=5])",
                  .reduced = "0",
                  .blocks = "2n",
                  .two_way = "rounds - one_way",
                  .one_way = "rounds - [p>2] - [n>1]([p>6](rounds-5) + [p=6](n-1))",
                  .volume = "rounds - one_way + [p>2](n-1)",
                  .one_way_volume = "one_way + [p=2](n-1)"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
