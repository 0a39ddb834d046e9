// allreduce/nonoverlapping: reduce/pipeline to rank 0, then bcast/pipeline from it.
//
// Idea      The two follow one another: no segment is spread before the last one is combined at rank 0.
// Shape     any p; the vector cut into n = segments blocks.
// Cost      2(n + p - 2) rounds; every block is sent and received twice, and combined once, by an inner rank.
// Scratch   as reduce/pipeline.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Open MPI, coll/base, allreduce_intra_nonoverlapping.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  patterns::cut(b, segments);
  patterns::allreduce_by_root(b, "reduce/pipeline", "bcast/pipeline");
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.copied = n * patterns::lonely_copy(shape)};
  const std::int64_t both = p > 2 ? 2 * n : n;  // inner ranks send and receive in both phases
  return {.rounds = 2 * (n + p - 2), .sent = both, .received = both, .reduced = n};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_root(shape, "reduce/pipeline", "bcast/pipeline"); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, nonoverlapping) {
  return {
      .summary = "pipelined reduce to rank 0, then pipelined bcast",
      .source = "Open MPI, coll/base",
      .family = Family::chain,
      .when =
          "operators that do not commute, megabytes, several ranks on a node: 2(n + p - 2) rounds of m/n, neighbours "
          "only",
      .peers = {openmpi("nonoverlapping"), mpich("sched_naive")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2(n+p-2)",
                  .sent = "n(1+[p>2])",
                  .reduced = "n",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "2[n>1][p>2](n+p-4)",
                  .one_way_volume = "one_way",
                  .combined = "n+p-2"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
