// allreduce/slices: every rank combines a slice of all vectors, and gives the result to all.
//
// Idea      Rank r gets slice r of everybody's vector straight from its owner, combines them in the order of ranks, and
//           sends the result to everybody. Ranks wait for one another twice, whatever p is, and where they share memory
//           every byte is read where it was written first.
// Shape     any p; p blocks, empty ones included (fewer elements than ranks).
// Cost      2(p - 1) rounds; 2(p - 1) blocks sent and received, p - 1 combined per rank.
// Scratch   p - 1 blocks.
// Order     rank order, from left to right: any associative operator; same bits on all ranks, and the same for every
//           size of the vector.
// Source    folklore: reduce_scatter/direct, then allgather(v)/linear.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr std::string_view first = "reduce_scatter/direct";
constexpr std::string_view second = "allgatherv/linear";

void build(Builder& b) { patterns::allreduce_by_parts(b, first, second); }
Cost cost(const Shape& shape) { return patterns::cost_by_parts(shape, first, second); }
CriticalPath path(const Shape& shape) { return patterns::path_by_parts(shape, first, second); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, slices) {
  return {
      .summary = "each rank combines one slice of all vectors, and sends it to all",
      .source = "folklore",
      .family = Family::pairwise,
      .when =
          "operators that do not commute, p not a power of two: from 32 KiB (p = 3) to 2 MiB (p = 24 to 100) on; least "
          "volume",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2(p-1)", .sent = "2(p-1)", .reduced = "p-1", .blocks = "p"},
      .cost = cost,
      .path = path,
      .levels = patterns::two_levels,
      .build = build,
  };
}
