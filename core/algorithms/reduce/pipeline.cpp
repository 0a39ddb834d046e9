// reduce/pipeline: the reversal of bcast/pipeline.
//
// Idea      Partial results of segments come up a chain of ranks: v (relative to the root) combines its
//           contribution with what comes from v + 1 and sends to v - 1.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      n + p - 2 rounds; every block is sent, received and combined once by a rank.
// Scratch   the vector at ranks that are not the root, and two segments.
// Order     root, root + 1, ..., root - 1: commutative operators, but for root 0, where it is the order of
//           ranks.
// Source    folklore; Open MPI, coll/base, reduce_intra_pipeline.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, "bcast/pipeline", part_shape(b)), Reversal::reduce);
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/pipeline"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/pipeline"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, pipeline) {
  return {
      .summary = "segments up a chain; long vectors, few ranks",
      .source = "folklore",
      .family = Family::chain,
      .when = "megabytes and few nodes of several ranks: neighbours only. Measured at 100 Mbit/s: from 12 to 90 KiB on",
      .peers = {openmpi("pipeline"), mpich("tsp_ring")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "n+p-2",
                  .sent = "n",
                  .reduced = "n",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "[n>1][p>2](n+p-4)",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .levels = patterns::line_levels,
      .build = build,
  };
}
