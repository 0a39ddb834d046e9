// allgather(v)/gather_bcast: gather/binomial to rank 0, then bcast/binomial of everything.
//
// Idea      For tiny blocks, or where one rank has fast links.
// Shape     any p; p blocks of any sizes.
// Cost      2q rounds, q = ceil(log2 p); rank 0 sends q p blocks.
// Scratch   as gather/binomial.
// Order     no operator.
// Source    Open MPI, coll/base, basic_linear; MPICH, before 2003.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const bool at_root = b.rank() == 0;
  Shape gather = part_shape(b);
  gather.in_place = b.shape().in_place;
  b.embed(build_part(b, "gatherv/binomial", gather),
          {.send = at_root && gather.in_place ? Region{} : b.input(), .recv = at_root ? b.output() : Region{}});
  patterns::binomial_bcast(b, b.output(), 0);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t q = patterns::ceil_log2(p);
  return {.rounds = 2 * q,
          .sent = q * p,
          .received = p > 1 ? p + patterns::binomial_most(p) - 1 : 0,
          .copied = shape.in_place && p < 4 ? 0 : 1};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t q = patterns::ceil_log2(p);
  return patterns::one_way_path(p, 2 * q, p - 1 + q * p);
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, gather_bcast) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "binomial gather to rank 0, then binomial bcast",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when = "never by cost: twice the rounds of bruck, and all of the vector through rank 0; for comparison",
      .peers = {openmpi("linear", {Collective::allgather}), openmpi("default", {Collective::allgatherv})},
      .formula = patterns::one_way({.rounds = "2 ceil(log2 p)", .sent = "q p", .reduced = "0"}, "p-1 + q p"),
      .cost = cost,
      .path = path,
      .levels = patterns::twice_binomial_levels,
      .build = build,
  };
}
