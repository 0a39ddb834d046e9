// gather(v)/bine: blocks go up a binomial tree whose distances are a third shorter.
//
// Idea      bcast/bine backwards: the ranks below a rank are an interval around it. Their blocks are a cyclic range,
//           which the rank collects and sends to its parent.
// Shape     any p, any root; p blocks of any sizes. In gatherv only the root knows the sizes: the executor
//           first runs the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds; the root receives p - 1 blocks; a rank sends floor(p/2) blocks at most; p - 1
//           messages in all. Inner ranks copy their own block next to the others.
// Scratch   the blocks that pass through a rank, floor(p/2) at most.
// Order     no operator.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any p, as bcast/bine.
#include "patterns/bine.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;
using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const patterns::BineTree tree(p, mod(b.rank() - b.root(), p));
  const Rank first = tree.subtree().first;
  const Rank ranks = tree.subtree().ranks;
  const Rank first_rank = mod(first + b.root(), p);

  Region all = b.input();  // a leaf sends straight from the send buffer
  if (b.rank() == b.root()) {
    all = b.output(first_rank, p);
  } else if (ranks > 1) {
    all = b.region(b.scratch(ranks, first_rank));
  }
  b.copy(b.part(all, tree.place() - first, 1), b.input());
  for (auto edge = tree.rounds().rbegin(); edge != tree.rounds().rend(); ++edge) {
    if (edge->ranks > 0 && edge->parent == tree.place()) {
      b.recv(mod(edge->child + b.root(), p), b.part(all, edge->first - first, edge->ranks));
    } else if (edge->ranks > 0) {
      b.send(mod(edge->parent + b.root(), p), all);
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) { return patterns::tree_gather_cost(shape, shape.size / 2); }

}  // namespace

CIRCOLL_ALGORITHM(gather, bine) {
  return {
      .collectives = {Collective::gather, Collective::gatherv},
      .summary = "binomial tree of cyclic ranges, over distances a third shorter",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::tree,
      .when =
          "never by cost: no price for distance; short blocks: as many rounds as binomial, distances a third shorter",
      .automatic = false,
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "floor(p/2)", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = patterns::tree_gather_path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
