// barrier/recursive_doubling: allreduce/recursive_doubling of nothing.
//
// Idea      Ranks tell one another at distances 1, 2, 4, ...; those beyond a power of two tell their
//           neighbour before and hear from it after.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      L = floor(log2 p): L rounds, and 2 more unless p = 2^L.
// Scratch   three blocks of no bytes.
// Order     none.
// Source    Hensgen, Finkel, Manber 1988; Open MPI, coll/base.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::barrier_by_allreduce(b, "allreduce/recursive_doubling"); }

Cost cost(const Shape& shape) { return patterns::cost_of_barrier_by_allreduce(shape, "allreduce/recursive_doubling"); }

CriticalPath path(const Shape& shape) {
  return parse_selection("allreduce/recursive_doubling").algorithm->path({.size = shape.size});
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, recursive_doubling) {
  return {
      .summary = "exchanges at doubling distances",
      .source = "Hensgen, Finkel, Manber 1988",
      .family = Family::recursive_doubling,
      .when = "never by cost: as fast as circulant for powers of two, two more one-way rounds than floor(log2 p) else",
      .peers = {openmpi("recursive_doubling"), mpich("sched_recursive_doubling"), ucc("knomial (radix 2)")},
      .formula = {.rounds = "L + 2[r>0]",
                  .sent = "L + [r>0]",
                  .reduced = "L + [r>0]",
                  .two_way = "L",
                  .one_way = "2[r>0]",
                  .volume = "L",
                  .one_way_volume = "2[r>0]"},
      .cost = cost,
      .path = path,
      .levels = patterns::folding_levels,
      .build = build,
  };
}
