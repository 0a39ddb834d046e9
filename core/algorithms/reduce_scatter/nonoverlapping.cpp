// reduce_scatter(_block)/nonoverlapping: a k-nomial reduce to rank 0, then scatter(v)/linear from it.
//
// Idea      The two follow one another. A k-nomial tree spares rank 0 most of the p messages that it gets in
//           reduce_scatter/linear; short blocks go straight from rank 0 to where they belong.
// Shape     any p; p blocks of any sizes.
// Cost      R + p - 1 rounds, R those of bcast/knomial; rank 0 receives and combines R p blocks; others send p.
// Scratch   four vectors at rank 0.
// Order     rank order: any associative operator; one rank computes the result.
// Source    Open MPI, coll/base, reduce_scatter_intra_nonoverlapping.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;

patterns::KnomialTree tree_of(const Shape& shape) { return {shape.size, patterns::value_of(shape, radix)}; }

void build(Builder& b) {
  patterns::reduce_scatter_by_root(
      b, [&](const Region& all) { patterns::reduce_in_order(b, all, tree_of(b.shape()), b.rank(), b.size()); });
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t rounds = tree_of(shape).rounds();
  if (p == 1) return {.copied = 1};
  return {.rounds = rounds + p - 1, .sent = p, .received = rounds * p, .reduced = rounds * p};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t rounds = tree_of(shape).rounds();
  return patterns::one_way_path(p, rounds + p - 1, rounds * p + p - 1, rounds * p);
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, nonoverlapping) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "k-nomial reduce to rank 0, then linear scatter; short vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "never by cost: p - 1 rounds of the scatter alone; for comparison",
      .peers = {openmpi("non-overlapping", {Collective::reduce_scatter})},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::one_way({.rounds = "p - 1 + sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)",
                                    .sent = "p",
                                    .reduced = "p(rounds-p+1)"},
                                   "p(rounds-p+2)-1"),
      .params = {radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
