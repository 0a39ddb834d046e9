// reduce/binary: the reversal of bcast/binary.
//
// Idea      Partial results of segments come up a binary tree of ranks in level order.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      2(n - 1) + h rounds, h < 2 log2 (p + 1); inner ranks receive and combine 2n blocks. (p = 2: n rounds.)
// Scratch   the vector at ranks that are not the root, and some segments.
// Order     not that of ranks: commutative operators. In rank order: reduce/split_binary.
// Source    Open MPI, coll/base, reduce_intra_binary.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments{.name = "segments",
                                    .minimum = 1,
                                    .maximum = 1 << 20,
                                    .fallback = 1,
                                    .summary = "blocks that the vector is cut into"};

void build(Builder& b) {
  b.cut(b.param(segments.name, segments.fallback));
  append_reversed(b, build_part(b, "bcast/binary", part_shape(b)), Reversal::reduce);
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {.copied = n * patterns::lonely_copy(shape)};
  const Cost bcast = find_algorithm(Collective::bcast, "binary")->cost(shape);
  return {.rounds = bcast.rounds, .sent = n, .received = bcast.sent, .reduced = bcast.sent};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, binary) {
  static const Algorithm algorithm{
      .collectives = {Collective::reduce},
      .name = "binary",
      .summary = "segments up a binary tree; medium vectors",
      .source = "Open MPI, coll/base",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "2(n-1)+h, h < 2 log2(p+1)", .sent = "n", .reduced = "2n"},
      .params = {segments},
      .cost = cost,
      .build = build,
  };
  return algorithm;
}
