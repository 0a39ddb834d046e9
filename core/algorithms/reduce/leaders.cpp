// reduce/leaders: the reversal of bcast/leaders: inside every node to its leader, then among the leaders.
//
// Idea      Every edge of the broadcast is used in the other direction, rounds in opposite order. One partial result
//           leaves every node, however many ranks share its port; a leader passes a block on when its node has combined
//           it.
// Shape     any p, any root; the vector cut into n = segments blocks; `cores` consecutive ranks on a node, the last
//           node may have fewer.
// Cost      with S = ceil(p / cores) nodes, c = min(cores, p): n - 1 + ceil(log2 c) rounds inside nodes (if c > 1) and
//           n - 1 + ceil(log2 S) between them (if S > 1). A non-root sends each block once.
// Scratch   the vector at non-roots, and four arrival buffers of one block.
// Order     commutative operators.
// Source    reversal of bcast/leaders.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/nodes.hpp"

namespace {

using namespace circoll;

using patterns::segments;
constexpr const char* forward = "bcast/leaders";

void build(Builder& b) {
  patterns::cut(b, segments);
  append_reversed(b, build_part(b, forward, part_shape(b)), Reversal::reduce, {.depth = 4});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, forward); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, forward); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, leaders) {
  return {
      .summary = "the reversed bcast/leaders: one partial result leaves every node",
      .source = "reversal of bcast/leaders",
      .family = Family::circulant,
      .when = "from some KiB on, nodes of many ranks, operators that commute: one partial result leaves a node",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "[S>1](n-1+ceil(log2 S)) + [c>1](n-1+ceil(log2 c)), S = ceil(p/cores), c = min(cores, p)",
                  .sent = "n",
                  .reduced =
                      "<= [S>1](n-1+ceil(log2 S)) + [c>1](n-1+ceil(log2 c)), S = ceil(p/cores), c = min(cores, p)",
                  .two_way = "rounds - one_way",
                  .one_way = "counted",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments, patterns::cores},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
