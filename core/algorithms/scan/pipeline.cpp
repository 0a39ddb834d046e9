// scan/pipeline: segments of results go up a chain of ranks.
//
// Idea      Rank r receives a segment of rank r - 1's result, combines it with its own contribution, and sends that on
//           while the next segment arrives: segment s leaves it in round r + s.
// Shape     any p; the vector cut into n = segments blocks.
// Cost      n + p - 2 rounds. A rank sends, receives and combines every block once. For long vectors that is the least
//           possible, where doubling sends the vector ceil(log2 p) times.
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
  const Rank r = b.rank();
  if (r == 0) b.copy(b.output(), b.input());
  if (b.size() == 1) return;
  patterns::Arrivals arrivals(b);
  patterns::through_chain(
      b, r, n, [&](std::int64_t i) { b.send(r + 1, r == 0 ? b.input(i, 1) : b.output(i, 1)); },
      [&](std::int64_t i) {
        const Region before = arrivals.next(b.input(i, 1));
        b.recv(r - 1, before);
        b.reduce(b.output(i, 1), before, b.input(i, 1));
      });
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const std::int64_t copied = shape.in_place ? 0 : n;
  if (shape.size == 1) return {.copied = copied};
  return {.rounds = n + shape.size - 2, .sent = n, .received = n, .reduced = n, .copied = copied};
}

/// The path is that of the reduction up a chain.
CriticalPath path(const Shape& shape) { return parse_selection("reduce/pipeline").algorithm->path(shape); }

}  // namespace

CIRCOLL_ALGORITHM(scan, pipeline) {
  return {
      .summary = "segments up a chain; long vectors, few ranks",
      .source = "Sanders, Traff 2006",
      .family = Family::chain,
      .when = "long vectors: from 16 KiB on for p = 5, 64 KiB for 36, 256 KiB for 100, 1 MiB for 1000",
      .guarantees = {.rank_order = true},
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
