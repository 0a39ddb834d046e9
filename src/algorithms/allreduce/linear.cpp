// allreduce/linear: reduce/linear to rank 0, then bcast/linear from it.
//
// Idea      The definition, as a reference; for very few ranks.
// Shape     any p; one block.
// Cost      2(p - 1) rounds; rank 0 sends, receives and combines p - 1 blocks.
// Scratch   three blocks.
// Order     rank order, from left to right: any associative operator; same, reproducible bits.
// Source    Open MPI, coll/base, basic_linear.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::allreduce_by_root(b, "reduce/linear", "bcast/linear"); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = 2 * (p - 1),
          .sent = p - 1,
          .received = p - 1,
          .reduced = p - 1,
          .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) { return patterns::path_by_root(shape, "reduce/linear", "bcast/linear"); }

}  // namespace

CIRCOLL_ALGORITHM(allreduce, linear) {
  static const Algorithm algorithm{
      .collectives = {Collective::allreduce},
      .name = "linear",
      .summary = "reduce to rank 0, then bcast, both linear",
      .source = "Open MPI, coll/base",
      .family = Family::linear,
      .when = "never by cost: 2(p-1) rounds; the definition, for comparison",
      .peers = {{.library = Library::openmpi, .name = "basic_linear"}},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2(p-1)",
                  .sent = "p-1",
                  .reduced = "p-1",
                  .two_way = "0",
                  .one_way = "2(p-1)",
                  .volume = "0",
                  .one_way_volume = "2(p-1)"},
      .cost = cost,
      .path = path,
      .build = build,
  };
  return algorithm;
}
