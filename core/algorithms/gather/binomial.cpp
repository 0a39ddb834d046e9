// gather(v)/binomial: blocks go up a binomial tree, and are collected on the way.
//
// Idea      scatter/binomial backwards: rank v (relative to the root) collects the blocks v .. v + 2^k - 1 of
//           its subtree, which are a cyclic range, and sends them to its parent.
// Shape     any p, any root; p blocks of any sizes. In gatherv only the root knows the sizes: the executor
//           first runs the same schedule on the counts.
// Cost      q = ceil(log2 p) rounds; the root receives p - 1 blocks; a rank sends max(p - 2^(q-1), 2^(q-2))
//           at most; p - 1 messages in all. Inner ranks copy their own block next to the others.
// Scratch   the blocks of the subtree, 2^(q-1) at most.
// Order     no operator.
// Source    folklore; Open MPI, coll/base.
#include <algorithm>
#include <bit>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const Rank v = patterns::mod(r - b.root(), p);
  const int q = patterns::ceil_log2(p);
  const int levels = v == 0 ? q : std::countr_zero(static_cast<std::uint64_t>(v));
  const Rank blocks = std::min(Rank{1} << levels, p - v);

  Region all = b.input();  // a leaf sends straight from the send buffer
  if (v == 0) {
    all = b.output(r, p);
  } else if (blocks > 1) {
    all = b.region(b.scratch(blocks, r));
  }
  b.copy(b.part(all, 0, 1), b.input());
  for (int k = 0; k < q; ++k) {
    const Rank mask = Rank{1} << k;
    if (k < levels && mask < blocks) {
      b.recv((r + mask) % p, b.part(all, mask, std::min(mask, blocks - mask)));
    }
    if (k == levels) b.send(patterns::mod(r - mask, p), all);
    b.next_round();
  }
}

Cost cost(const Shape& shape) { return patterns::tree_gather_cost(shape, patterns::binomial_most(shape.size)); }

}  // namespace

CIRCOLL_ALGORITHM(gather, binomial) {
  return {
      .collectives = {Collective::gather, Collective::gatherv},
      .summary = "binomial tree of cyclic ranges",
      .source = "folklore",
      .family = Family::tree,
      .when = "never by cost: as many rounds as circulant, which copies less or wins the tie",
      .peers = {openmpi("binomial", {Collective::gather}), mpich("binomial", {Collective::gather}),
                ucc("knomial (radix 2)", {Collective::gather})},
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "max(p-2^(q-1), floor(2^(q-2)))", .reduced = "0"},
                                   "p-1"),
      .cost = cost,
      .path = patterns::tree_gather_path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
