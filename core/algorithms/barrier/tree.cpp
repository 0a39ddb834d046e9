// barrier/tree: up a binomial tree, and down again.
//
// Idea      allreduce/binomial of nothing.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      2q rounds, q = ceil(log2 p); rank 0 sends and receives q messages.
// Scratch   three blocks of no bytes.
// Order     none.
// Source    folklore; Open MPI, coll/base, barrier_intra_tree.
#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::barrier_by_allreduce(b, "allreduce/binomial"); }

Cost cost(const Shape& shape) { return patterns::cost_of_barrier_by_allreduce(shape, "allreduce/binomial"); }

CriticalPath path(const Shape& shape) {
  return parse_selection("allreduce/binomial").algorithm->path({.size = shape.size});
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, tree) {
  return {
      .summary = "up a binomial tree and down again",
      .source = "folklore",
      .family = Family::tree,
      .when = "never by cost: 2q one-way rounds, faster than q rounds only if alpha_uni is below half of alpha",
      .peers = {openmpi("tree")},
      .formula = patterns::one_way({.rounds = "2q", .sent = "q", .reduced = "q", .one_way = "2q"}, "2q"),
      .cost = cost,
      .path = path,
      .levels = patterns::twice_binomial_levels,
      .build = build,
  };
}
