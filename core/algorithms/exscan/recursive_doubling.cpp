// exscan/recursive_doubling: groups of 2^k ranks know what they have in all, and every rank what came before it.
//
// Idea      In round k rank r exchanges with r xor 2^k the total of their groups. The total of a lower group belongs to
//           the result and to the total of the joint group. The total of a higher group belongs only to the latter.
//           Where p is not a power of two a rank may have no partner in a round. Then nobody needs the total of its
//           group. Totals that nobody needs later are not sent.
// Shape     any p; one block.
// Cost      q = ceil(log2 p) rounds and blocks sent. A rank combines up to about 2 floor(log2 p) - 2 blocks, for the
//           result and for the group.
// Scratch   up to four blocks.
// Order     rank order: any associative operator.
// Source    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005; MPICH's
//           and Open MPI's recursive doubling. Differs: totals that nobody needs are not exchanged.
#include "circoll/algorithm.hpp"
#include "patterns/prefix.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::prefix_by_doubling(b, false); }

Cost cost(const Shape& shape) { return patterns::cost_of_prefix_by_doubling(shape, false); }

CriticalPath path(const Shape& shape) { return patterns::path_of_prefix_by_doubling(shape, false); }

}  // namespace

CIRCOLL_ALGORITHM(exscan, recursive_doubling) {
  return {
      .summary = "doubling groups of ranks; short vectors",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when =
          "below the sizes of pipeline, p - 1 above 3/4 of the next power of two, and p = 5: some of its q rounds are "
          "one-way",
      .peers = {openmpi("recursive_doubling"), mpich("recursive_doubling")},
      .guarantees = {.rank_order = true},
      .formula = {.rounds = "q",
                  .sent = "q",
                  .reduced = "max([p=3] + 2[p=5], 2L-3 + [2p >= 3P])",
                  .two_way = "q-1",
                  .one_way = "1",
                  .volume = "q-1",
                  .one_way_volume = "1",
                  .combined = "[p>2] + [q>2](2q-5 + [4p > 3*2^q+4]) + [2p > 2^q+2]"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
