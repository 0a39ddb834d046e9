// exscan/direct: every rank sends its vector to all ranks above it, and combines what comes from below.
//
// Idea      For a few bytes and few ranks that share memory one exchange is enough. All messages leave at once, and
//           rank r computes x0 op x1 op ... op x(r-1).
// Shape     any p; one block.
// Cost      p - 1 rounds, none of which waits for another. A rank sends or receives p - 1 blocks, and the last rank
//           combines p - 2. In place rank 1 copies one block, because it sends from the place of its result.
// Scratch   as many blocks as there are ranks below.
// Order     rank order, from left to right: any associative operator; the bits of a chain of ranks (exscan/linear).
// Source    folklore. Differs from exscan/recursive_doubling, in which messages wait for one another ceil(log2 p)
//           times.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/prefix.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::prefix_directly(b, false); }

Cost cost(const Shape& shape) { return patterns::cost_of_prefix_directly(shape, false); }

CriticalPath path(const Shape& shape) { return patterns::path_of_prefix_directly(shape, false); }

}  // namespace

CIRCOLL_ALGORITHM(exscan, direct) {
  return {
      .summary = "few ranks, tiny vectors: every vector to all ranks above, combined in the order of ranks",
      .source = "folklore",
      .family = Family::pairwise,
      .when = "p = 2, where all are alike; few ranks that share memory, where no message waits for another",
      .guarantees = {.rank_order = true},
      .formula = {.rounds = "p-1",
                  .sent = "p-1",
                  .reduced = "p-2",
                  .two_way = "floor((p-1)/2)",
                  .one_way = "ceil((p-1)/2)",
                  .volume = "floor((p-1)/2)",
                  .one_way_volume = "one_way",
                  .combined = "p-2"},
      .cost = cost,
      .path = path,
      .levels = patterns::one_level,
      .build = build,
  };
}
