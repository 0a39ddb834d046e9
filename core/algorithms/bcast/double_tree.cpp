// bcast/double_tree: halves of the vector go down two binary trees that use the ranks in turn.
//
// Idea      All ranks but the root stand in two binary trees, such that an inner rank of one is a leaf of the other
//           (patterns/double_tree.hpp). A tree carries one half of the vector, a segment in every second round. The
//           rounds of a rank in one tree are those in which it rests in the other. So it receives in every round, and
//           an inner rank sends in every round.
// Shape     any p, any root; the vector cut into 2n blocks, n = segments of each half.
// Cost      2(n + floor(log2(p-1))) rounds; 2n blocks sent and received per rank at most.
// Scratch   none.
// Order     no operator.
// Source    P. Sanders, J. Speck, J. L. Traff: Two-tree algorithms for full bandwidth broadcast, reduction and scan,
//           2009; NCCL's double binary tree. Differs: trees in level order in place of in-order, so that a rank's
//           rounds follow from whether its node is odd. The source computes them by a recursion.
#include "patterns/double_tree.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;
using patterns::DoubleTree;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that each half of the vector is cut into");

void build(Builder& b) {
  const std::int64_t n = b.param(segments.name, segments.fallback);
  b.cut(2 * n);
  const Rank p = b.size();
  if (p == 1) return;
  const DoubleTree trees(p);
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  const auto rank_of = [&](Rank relative) { return (relative + b.root()) % p; };
  for (std::int64_t round = 0; round < trees.rounds(n); ++round) {
    for (int tree = 0; tree < 2; ++tree) {
      const auto block = [&](Rank node) {
        const std::int64_t s = patterns::segment_in(round, trees.start(tree, node), 2, n);
        return s >= 0 ? b.output(tree * n + s, 1) : Region{};
      };
      const auto send = [&](Rank node) {
        if (node <= trees.last()) b.send(rank_of(trees.rank_at(tree, node)), block(node));
      };
      if (v == 0) {
        send(1);
        continue;
      }
      const Rank node = trees.node_of(tree, v);
      send(2 * node);
      send(2 * node + 1);
      b.recv(rank_of(node == 1 ? 0 : trees.rank_at(tree, node / 2)), block(node));
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {};
  return {.rounds = DoubleTree(shape.size).rounds(n), .sent = 2 * n, .received = 2 * n};
}

CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {.blocks = 2 * n};
  const DoubleTree trees(shape.size);
  const std::int64_t rounds = trees.rounds(n);
  return patterns::pipelined_path(2 * n, rounds, rounds - trees.two_way_rounds(n));
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, double_tree) {
  return {
      .summary = "halves down two binary trees whose inner ranks differ; long vectors",
      .source = "Sanders, Speck, Traff 2009",
      .family = Family::tree,
      .when = "never by cost: more rounds than circulant_pipelined, as much volume; for comparison",
      .automatic = false,
      .peers = {ucc("dbt")},
      .formula = {.rounds = "2(n + floor(log2(p-1)))",
                  .sent = "2n",
                  .reduced = "0",
                  .blocks = "2n",
                  .two_way = "rounds - one_way",
                  .one_way = "counted",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
