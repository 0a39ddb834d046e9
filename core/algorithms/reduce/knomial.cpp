// reduce/knomial: the reversal of bcast/knomial.
//
// Idea      Partial results come up a tree in which every rank has radix - 1 children per level.
// Shape     any p, any root; one block.
// Cost      rounds as bcast/knomial; the root receives and combines a block in each.
// Scratch   a block for each message on its way, which are at most radix, and at most 8. Ranks that are not the root
//           have one more.
// Order     not that of ranks: commutative operators.
// Source    Open MPI, coll/base; MPICH, tree.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;

void build(Builder& b) {
  const auto depth = static_cast<int>(patterns::knomial_memory(b.param(radix.name, radix.fallback)));
  append_reversed(b, build_part(b, "bcast/knomial", part_shape(b)), Reversal::reduce, {.depth = depth});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/knomial"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/knomial"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, knomial) {
  return {
      .summary = "a tree with radix - 1 children per level; short vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "never by cost: for a few bytes where the root can receive several messages at once",
      .peers = {mpich("tsp_tree"), ucc("knomial")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = patterns::one_way({.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)",
                                    .sent = "1",
                                    .reduced = "rounds",
                                    .combined = "rounds"},
                                   "rounds"),
      .params = {radix},
      .cost = cost,
      .path = path,
      .levels = patterns::knomial_levels,
      .on_ports = patterns::knomial_reduce_on_ports,
      .build = build,
  };
}
