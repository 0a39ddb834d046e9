// allreduce/allgather_reduce: gather all vectors everywhere, then combine them in the order of ranks.
//
// Idea      For vectors of a few bytes a round costs more than the data: ceil(log2 p) rounds, any operator, and the
//           same bits on all ranks, since all compute the same expression x0 op x1 op ... op x(p-1).
// Shape     any p; one block.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent, received and combined per rank.
// Scratch   p blocks.
// Order     rank order, from left to right: any associative operator; reproducible bits.
// Source    folklore; the allgather is allgather/circulant_optimal.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  if (p == 1) return b.copy(b.output(), b.input());
  const std::int32_t all = b.scratch(p, 0, 0);
  b.embed(build_part(b, "allgather/circulant_optimal", part_shape(b)),
          {.block_stride = 0, .send = b.input(), .recv = b.region(all)});
  b.reduce(b.output(), b.region(all, 0, 1), b.region(all, 1, 1));
  for (Rank r = 2; r < p; ++r) b.reduce(b.output(), b.output(), b.region(all, r, 1));
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p),
          .sent = p - 1,
          .received = p - 1,
          .reduced = p - 1,
          .copied = p == 1 && shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, allgather_reduce) {
  return {
      .summary = "tiny vectors, any operator: allgather, then a local reduction in rank order",
      .source = "folklore",
      .family = Family::circulant,
      .when =
          "p not a power of two: up to 8 KiB for p = 3 and 5, 256 bytes for 11, 64 for 36; the same bits, every "
          "operator",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "p-1"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
