// bcast/linear: the root sends the vector to one rank after the other.
//
// Idea      In the order of ranks, the root left out.
// Shape     any p, any root; one block.
// Cost      p - 1 rounds; the root sends p - 1 blocks.
// Scratch   none.
// Order     no operator.
// Source    folklore; Open MPI, coll/base, basic_linear.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::linear_bcast(b, b.output(), b.root()); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p > 1 ? 1 : 0};
}

CriticalPath path(const Shape& shape) { return patterns::one_way_path(1, shape.size - 1, shape.size - 1); }

}  // namespace

CIRCOLL_ALGORITHM(bcast, linear) {
  return {
      .summary = "the root sends to every rank",
      .source = "folklore",
      .family = Family::linear,
      .when = "never by cost: p - 1 rounds. Measured at 100 Mbit/s, 11 hosts: up to 23 bytes",
      .peers = {openmpi("basic_linear")},
      .formula = patterns::one_way({.rounds = "p-1", .sent = "p-1", .reduced = "0", .one_way = "p-1"}, "p-1"),
      .cost = cost,
      .path = path,
      .levels = patterns::one_level,
      .build = build,
  };
}
