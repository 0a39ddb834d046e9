// reduce/bine: the reversal of bcast/bine.
//
// Idea      Partial results go up a binomial tree in which parent and child are a third closer to each other.
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds; the root receives and combines a block in each; every other rank sends one.
// Scratch   three blocks at most.
// Order     an order that depends on p and the distance from the root: commutative operators.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any p, as bcast/bine.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "bcast/bine", part_shape(b)), Reversal::reduce); }
Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/bine"); }
CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/bine"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, bine) {
  return {
      .summary = "binomial tree over distances a third shorter; short vectors",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::tree,
      .when =
          "never by cost: no price for distance; short vectors: as many rounds as binomial, distances a third shorter",
      .automatic = false,
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = patterns::one_way({.rounds = "q", .sent = "1", .reduced = "q", .combined = "q"}, "q"),
      .cost = cost,
      .path = path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
