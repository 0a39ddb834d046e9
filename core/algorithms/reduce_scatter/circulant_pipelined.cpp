// reduce_scatter(_block)/circulant_pipelined: the reversal of allgather(v)/circulant_pipelined.
//
// Idea      p concurrent pipelined reductions, one to each rank, whose partial results share one message per round.
// Shape     any p; user blocks of any sizes, each cut into n = segments.
// Cost      n - 1 + q rounds, q = ceil(log2 p); n (p - 1) blocks sent, received and combined per rank: (n - 1 +
//           q)(alpha + beta sum m_j / n) even if one block is nearly the whole vector.
// Scratch   partial results of all blocks, and two arrival buffers.
// Order     commutative operators.
// Source    reversal of J. L. Traff, arXiv 2407.18004.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that every user block is cut into");

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, "allgatherv/circulant_pipelined", part_shape(b)), Reversal::reduce,
                  {.gather_strays = false});
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.copied = n};
  const std::int64_t blocks = n * (p - 1);
  return {.rounds = n - 1 + patterns::ceil_log2(p), .sent = blocks, .received = blocks, .reduced = blocks};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, circulant_pipelined) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "p concurrent pipelined reductions; for blocks of very uneven sizes",
      .source = "reversal of Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "blocks of very uneven sizes; with one segment where circulant_optimal copies a block (p odd, 7 or more)",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "n-1+ceil(log2 p)", .sent = "n(p-1)", .reduced = "n(p-1)"},
      .params = {segments},
      .cost = cost,
      .build = build,
  };
}
