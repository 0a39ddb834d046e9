// allgather(v)/bruck: every rank doubles what it has in each round.
//
// Idea      After round k rank r has the blocks r .. r + 2^(k+1) - 1 modulo p. In round k it sends what it
//           has, or what is still missing at the end, to r - 2^k, and receives as much from r + 2^k.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank: both are optimal. One block
//           copied.
// Scratch   none.
// Order     no operator.
// Source    Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications, 1997.
//           Differs: the original collects in a buffer that is rotated at the end; cyclic ranges of the
//           receive buffer need no rotation. Messages are sent straight from there.
#include "patterns/bruck.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::allgather_by_digits(b, 2); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, bruck) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "doubling cyclic ranges, without the rotation; short blocks",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "short blocks at every p: as fast as circulant_optimal, which wins the tie",
      .peers = {openmpi("bruck"), mpich("brucks"), ucc("bruck", {Collective::allgather})},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
