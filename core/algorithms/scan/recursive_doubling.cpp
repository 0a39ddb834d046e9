// scan/recursive_doubling: groups of 2^k ranks know what they have in all, and every rank what came before it.
//
// Idea      In round k rank r exchanges with r xor 2^k what their groups have in all. What comes from a lower group
//           belongs to the result; what comes from a higher one only to what the joint group has in all. Where p is
//           not a power of two a rank may have no partner in a round; nobody then needs what its group has. What
//           nobody needs later is not sent.
// Shape     any p; one block.
// Cost      q = ceil(log2 p) rounds and blocks sent; up to 2 floor(log2 p) - 2 or so combined: for the result, and for
//           the group.
// Scratch   up to four blocks.
// Order     rank order: any associative operator.
// Source    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005; MPICH's
//           and Open MPI's recursive doubling. Differs: no exchange of what nobody needs.
#include "circoll/algorithm.hpp"
#include "patterns/prefix.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::prefix_by_doubling(b, true); }

Cost cost(const Shape& shape) { return patterns::cost_of_prefix_by_doubling(shape, true); }

CriticalPath path(const Shape& shape) { return patterns::path_of_prefix_by_doubling(shape, true); }

}  // namespace

CIRCOLL_ALGORITHM(scan, recursive_doubling) {
  return {
      .summary = "doubling groups of ranks; short vectors",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when = "below the sizes of pipeline, p >= 4: q rounds",
      .peers = {openmpi("recursive_doubling"), mpich("recursive_doubling")},
      .guarantees = {.rank_order = true},
      .formula = {.rounds = "q",
                  .sent = "q",
                  .reduced = "max(L, 2k-3 + [2p+2 >= 3*2^k]), k = floor(log2(p+1))",
                  .two_way = "q-1",
                  .one_way = "1",
                  .volume = "q-1",
                  .one_way_volume = "1",
                  .combined = "max(1, 2q-2 - [q>2][4p <= 3*2^q])"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
