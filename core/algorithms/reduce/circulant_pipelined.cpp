// reduce/circulant_pipelined: the reversal of bcast/circulant_pipelined.
//
// Idea      Every edge of the broadcast is used in the other direction, rounds in opposite order: a rank sends its
//           partial result of a block where it would have received the block, and combines where it would have sent.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      n - 1 + q rounds, q = ceil(log2 p); p - 1 messages per block in all. A non-root sends each block once.
// Scratch   the vector at non-roots, and four arrival buffers of one block.
// Order     commutative operators.
// Source    reversal of J. L. Traff, arXiv 2407.18004.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  b.cut(b.param("segments", segments.fallback));
  append_reversed(b, build_part(b, "bcast/circulant_pipelined", part_shape(b)), Reversal::reduce, {.depth = 4});
}

Cost cost(const Shape& shape) {
  const auto given = shape.params.find("segments");
  const std::int64_t n = given == shape.params.end() ? segments.fallback : given->second;
  if (shape.size == 1) return {.copied = shape.in_place ? 0 : n};
  const std::int64_t rounds = n - 1 + patterns::ceil_log2(shape.size);
  return {.rounds = rounds, .sent = n, .received = rounds, .reduced = rounds};
}

/// The path is that of the broadcast; some rank combines a block in every round.
CriticalPath path(const Shape& shape) {
  CriticalPath path = parse_selection("bcast/circulant_pipelined").algorithm->path(shape);
  path.combined = path.volume + path.one_way_volume;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, circulant_pipelined) {
  return {
      .summary = "the reversed n-block broadcast: n-1+ceil(log2 p) rounds, p-1 messages per block",
      .source = "reversal of Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "operators that commute: every size if p is not a power of two, else from 4 or 8 KiB on",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "n-1+ceil(log2 p)",
                  .sent = "n",
                  .reduced = "n-1+q",
                  .two_way = "rounds - one_way",
                  .one_way = "<= 2q + [p=2]n",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
