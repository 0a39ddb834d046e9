// exscan/pipeline: segments of sums go up a chain of ranks.
//
// Idea      Rank r receives a segment of its result from rank r - 1 and sends it on combined with its own contribution,
//           while the next segment arrives: segment s leaves it in round r + s.
// Shape     any p; the vector cut into n = segments blocks.
// Cost      n + p - 2 rounds. A rank sends and receives every block once, and an inner rank combines it once. In place
//           inner ranks also copy it, because their contribution lies where the result will.
// Scratch   a few segments.
// Order     rank order: any associative operator.
// Source    P. Sanders, J. L. Traff, Parallel Prefix (Scan) Algorithms for MPI, EuroPVM/MPI 2006 (pipelined linear
//           array).
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  const Rank r = b.rank();
  const bool last = r == p - 1;
  if (p == 1) return;
  patterns::Arrivals arrivals(b), sums(b);
  Region sum;  // what was combined in the round before
  patterns::through_chain(
      b, r, n, [&](std::int64_t i) { b.send(r + 1, r == 0 ? b.input(i, 1) : sum); },
      [&](std::int64_t i) {
        const Region own = b.input(i, 1);
        const Region before = b.shape().in_place && !last ? arrivals.next(own) : b.output(i, 1);
        b.recv(r - 1, before);
        if (last) return;
        sum = sums.next(own);
        b.reduce(sum, before, own);
        b.copy(b.output(i, 1), before);
      });
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {};
  const std::int64_t inner = shape.size > 2 ? n : 0;
  return {
      .rounds = n + shape.size - 2, .sent = n, .received = n, .reduced = inner, .copied = shape.in_place ? inner : 0};
}

/// The path is that of the reduction up a chain, but in the last round nothing is combined.
CriticalPath path(const Shape& shape) {
  CriticalPath path = parse_selection("reduce/pipeline").algorithm->path(shape);
  path.combined = shape.size > 2 ? path.combined - 1 : 0;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(exscan, pipeline) {
  return {
      .summary = "segments up a chain; long vectors, few ranks",
      .source = "Sanders, Traff 2006",
      .family = Family::chain,
      .when = "long vectors: from 16 KiB on for p = 5, 128 KiB for 36, 256 KiB for 100, 1 MiB for 1000",
      .guarantees = {.rank_order = true},
      .formula = {.rounds = "n+p-2",
                  .sent = "n",
                  .reduced = "[p>2]n",
                  .two_way = "volume",
                  .one_way = "rounds - volume",
                  .volume = "[n>1][p>2](n+p-4)",
                  .one_way_volume = "one_way",
                  .combined = "[p>2](n+p-3)"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .levels = patterns::line_levels,
      .build = build,
  };
}
