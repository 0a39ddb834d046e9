// bcast/pipeline: segments go down a chain of ranks.
//
// Idea      Rank v (relative to the root) sends segment s to v + 1 in round v + s.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      n + p - 2 rounds; every block is sent and received once by a rank. T = (n + p - 2)(alpha + beta m
//           / n), least for n = sqrt((p - 2) beta m / alpha).
// Scratch   none.
// Order     no operator.
// Source    folklore; Open MPI, coll/base, bcast_intra_pipeline.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  if (p == 1) return;
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  patterns::through_chain(
      b, v, n, [&](std::int64_t i) { b.send((b.rank() + 1) % p, b.output(i, 1)); },
      [&](std::int64_t i) { b.recv(patterns::mod(b.rank() - 1, p), b.output(i, 1)); });
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {};
  return {.rounds = n + shape.size - 2, .sent = n, .received = n};
}

/// The first and the last message travel alone; so do all where there is one segment or one edge.
CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.blocks = n};
  const std::int64_t rounds = n + p - 2;
  return patterns::pipelined_path(n, rounds, n == 1 || p == 2 ? rounds : 2);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, pipeline) {
  return {
      .summary = "segments down a chain; long vectors, few ranks",
      .source = "folklore",
      .family = Family::chain,
      .when =
          "megabytes and few nodes of several ranks: neighbours only. Measured at 100 Mbit/s, 8 and 11 hosts: from 12 "
          "to 90 KiB on",
      .peers = {openmpi("pipeline"), mpich("tsp_ring")},
      .formula = {.rounds = "n+p-2",
                  .sent = "n",
                  .reduced = "0",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "[n>1][p>2](n+p-4)",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .levels = patterns::line_levels,
      .build = build,
  };
}
