// barrier/linear: all ranks tell rank 0, then rank 0 tells all.
//
// Idea      allreduce/linear of nothing.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      2(p - 1) rounds; rank 0 sends and receives p - 1 messages.
// Scratch   three blocks of no bytes.
// Order     none.
// Source    folklore; Open MPI, coll/base, basic_linear.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::barrier_by_allreduce(b, "allreduce/linear"); }

Cost cost(const Shape& shape) { return patterns::cost_of_barrier_by_allreduce(shape, "allreduce/linear"); }

CriticalPath path(const Shape& shape) {
  return parse_selection("allreduce/linear").algorithm->path({.size = shape.size});
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, linear) {
  return {
      .summary = "all ranks tell rank 0, then rank 0 tells all",
      .source = "folklore",
      .family = Family::linear,
      .when = "never by cost: 2(p-1) rounds; the definition, for comparison",
      .peers = {openmpi("linear")},
      .formula =
          patterns::one_way({.rounds = "2(p-1)", .sent = "p-1", .reduced = "p-1", .one_way = "2(p-1)"}, "2(p-1)"),
      .cost = cost,
      .path = path,
      .levels = patterns::two_levels,
      .build = build,
  };
}
