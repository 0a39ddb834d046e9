// scatter(v)/linear: the root sends every rank its block, one after the other.
//
// Idea      The reversal of gather(v)/linear.
// Shape     any p, any root; p blocks of any sizes.
// Cost      p - 1 rounds; the root sends p - 1 blocks; a rank receives one.
// Scratch   none.
// Order     no operator.
// Source    folklore; Open MPI, coll/base, basic_linear.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "gatherv/linear", part_shape(b)), Reversal::move); }

Cost cost(const Shape& shape) { return patterns::cost_of_reversed(shape, "gather/linear"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed(shape, "gather/linear"); }

}  // namespace

CIRCOLL_ALGORITHM(scatter, linear) {
  return {
      .collectives = {Collective::scatter, Collective::scatterv},
      .summary = "the root sends to every rank",
      .source = "folklore",
      .family = Family::linear,
      .when = "long blocks between hosts: all of them leave the root by one port, in any order",
      .peers = {openmpi("basic_linear", {Collective::scatter}), openmpi("linear (coll/basic)", {Collective::scatterv}),
                mpich("linear", {Collective::scatterv}), ucc("linear", {Collective::scatterv})},
      .guarantees = {.direct = true},
      .formula = patterns::one_way({.rounds = "p-1", .sent = "p-1", .reduced = "0"}, "p-1"),
      .cost = cost,
      .path = path,
      .levels = patterns::one_level,
      .build = build,
  };
}
