// reduce/slices: every rank combines a slice of all vectors, and gives the result to the root.
//
// Idea      The root does not combine p vectors alone: rank r gets slice r of everybody's vector, combines them in the
//           order of ranks, and sends the result to the root.
// Shape     any p, any root; p blocks, empty ones included.
// Cost      2(p - 1) rounds; p blocks sent, 2(p - 1) received at the root, p - 1 combined per rank.
// Scratch   p blocks.
// Order     rank order, from left to right: any associative operator; the same bits for every size and root.
// Source    folklore: reduce_scatter/direct, then gather/linear.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::reduce_by_parts(b, "reduce_scatter/direct"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, slices) {
  return {
      .summary = "each rank combines one slice of all vectors for the root",
      .source = "folklore",
      .family = Family::pairwise,
      .when =
          "operators that do not commute, p not a power of two: from 128 KiB (p = 5) to 2 MiB (p = 24 to 100) on; "
          "least volume",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2(p-1)",
                  .sent = "p",
                  .reduced = "p-1",
                  .blocks = "p",
                  .two_way = "p-1",
                  .one_way = "p-1",
                  .volume = "p-1",
                  .one_way_volume = "p-1"},
      .cost = patterns::cost_of_reduce_by_parts,
      .path = patterns::path_of_reduce_by_parts,
      .levels = patterns::two_levels,
      .build = build,
  };
}
