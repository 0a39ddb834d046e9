// allreduce/knomial: a k-nomial reduce to rank 0, then bcast/knomial from it.
//
// Idea      Fewer levels than the binomial tree, and more messages per rank: for short vectors where latency is long
//           and messages cost their sender little.
// Shape     any p; one block.
// Cost      2R rounds, R those of bcast/knomial; R blocks sent, received and combined by rank 0.
// Scratch   three blocks.
// Order     rank order: any associative operator; one rank computes the result: same bits on all ranks.
// Source    MPICH, allreduce_intra_tree.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;

void build(Builder& b) {
  patterns::reduce_in_order(b, b.output(), patterns::KnomialTree(b.size(), b.param(radix.name, radix.fallback)),
                            b.rank(), b.size());
  b.embed(build_part(b, "bcast/knomial", part_shape(b)), {.recv = b.output()});
}

Cost cost(const Shape& shape) {
  const std::int64_t rounds = patterns::KnomialTree(shape.size, patterns::value_of(shape, radix)).rounds();
  return {.rounds = 2 * rounds,
          .sent = rounds,
          .received = rounds,
          .reduced = rounds,
          .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_root(shape, "reduce/knomial", "bcast/knomial"); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, knomial) {
  return {
      .summary = "k-nomial reduce to rank 0, then k-nomial bcast; short vectors",
      .source = "MPICH, coll/allreduce",
      .family = Family::tree,
      .when =
          "never by cost: for a few bytes where a rank can have several messages on their way. Measured, 4 hosts of 4 "
          "ranks: up to 1.4 KiB",
      .peers = {mpich("tsp_tree")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = patterns::one_way({.rounds = "2 sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)",
                                    .sent = "rounds/2",
                                    .reduced = "rounds/2",
                                    .combined = "rounds/2"},
                                   "rounds"),
      .params = {radix},
      .cost = cost,
      .path = path,
      .levels = patterns::twice_knomial_levels,
      .build = build,
  };
}
