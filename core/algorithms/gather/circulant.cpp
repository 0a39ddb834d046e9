// gather(v)/circulant: allgather/circulant_optimal without what the root does not need.
//
// Idea      With ranks v relative to the root, the root receives the blocks s_k .. s_{k+1} - 1 from rank s_k in round
//           k; rank s_k has collected them in the same way before. Every rank but the root sends once, a contiguous
//           range of blocks, own block first.
// Shape     any p, any root; p blocks of any sizes. In gatherv only the root knows the sizes: the executor first runs
//           the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds; the root receives p - 1 blocks; a rank sends floor(p/2) blocks at most; p - 1
//           messages in all.
// Scratch   the blocks that pass through a rank, floor(p/2) at most.
// Order     no operator.
// Source    Traff et al., Uniform Algorithms, III-F. Differs: III-F prunes Listing 7, where ranks of odd rounds send
//           twice; this prunes arXiv 2410.14234, where every rank sends once.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

/// The place of a rank in the tree: its parent, the round, and the number of blocks that it sends.
struct TreeNode {
  Rank parent = -1;
  int round = 0;
  Rank blocks = 0;
};

TreeNode place_of(Rank v, const patterns::Skips& skips) {
  TreeNode place{.round = skips.q(), .blocks = skips[skips.q()]};
  Rank node = 0;
  while (node != v) {
    int k = place.round - 1;
    while (skips[k] > v - node) --k;
    place = {node, k, std::min(skips[k + 1], place.blocks) - skips[k]};
    node += skips[k];
  }
  return place;
}

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const Rank r = b.rank();
  const Rank v = patterns::mod(r - b.root(), p);
  const TreeNode place = place_of(v, skips);

  Region all = b.input();  // a leaf sends straight from the send buffer
  if (v == 0) {
    all = b.output(r, p);
  } else if (place.blocks > 1) {
    all = b.region(b.scratch(place.blocks, r));
  }
  b.copy(b.part(all, 0, 1), b.input());
  for (int k = 0; k < skips.q(); ++k) {
    if (k < place.round && skips[k] < place.blocks) {
      const Rank end = std::min(skips[k + 1], place.blocks);
      b.recv((r + skips[k]) % p, b.part(all, skips[k], end - skips[k]));
    }
    if (k == place.round) b.send((place.parent + b.root()) % p, all);
    b.next_round();
  }
}

Cost cost(const Shape& shape) { return patterns::tree_gather_cost(shape, shape.size / 2); }

std::int64_t levels(const Shape& shape) { return patterns::levels_of_tree(patterns::Skips(shape.size)); }

}  // namespace

CIRCOLL_ALGORITHM(gather, circulant) {
  return {
      .collectives = {Collective::gather, Collective::gatherv},
      .summary = "a tree of contiguous ranges in the circulant graph",
      .source = "Traff et al., Uniform Algorithms, III-F; arXiv 2410.14234",
      .family = Family::circulant,
      .when = "every p and size: q rounds, every block of other ranks enters the root once",
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "floor(p/2)", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = patterns::tree_gather_path,
      .levels = levels,
      .build = build,
  };
}
