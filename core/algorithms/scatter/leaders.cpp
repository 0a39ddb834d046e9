// scatter(v)/leaders: the reversal of gather(v)/leaders: among the leaders of the nodes, then inside every node.
//
// Idea      The root sends every node the blocks of all its ranks at once, over a tree of leaders or straight (radix >=
//           the number of nodes), and the leaders spread them on their nodes.
// Shape     any p, any root; p blocks of any sizes. `cores` consecutive ranks are on a node, and the last node may have
//           fewer. In scatterv only the root knows the sizes. So the executor first runs the same schedule on the
//           counts.
// Cost      rounds as gather/leaders. The root sends p - 1 blocks. There are p - 1 messages in all, S - 1 of them
//           between nodes.
// Scratch   the blocks that pass through a rank: at a leader those of its nodes.
// Order     no operator.
// Source    reversal of gather/leaders.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/nodes.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { append_reversed(b, build_part(b, "gatherv/leaders", part_shape(b)), Reversal::move); }

Cost cost(const Shape& shape) { return patterns::cost_of_reversed(shape, "gather/leaders"); }

CriticalPath path(const Shape& shape) { return patterns::path_of_reversed(shape, "gather/leaders"); }

}  // namespace

CIRCOLL_ALGORITHM(scatter, leaders) {
  return {
      .collectives = {Collective::scatter, Collective::scatterv},
      .summary = "to every node in one message for all its blocks, and from its leader to the ranks",
      .source = "reversal of gather/leaders",
      .family = Family::hierarchical,
      .when =
          "never by cost: circulant has no more rounds. Measured, 4 hosts of 4 ranks: up to 23 KiB, as ranks share a "
          "port",
      .formula = patterns::one_way(
          {.rounds = "ceil(log2 c) + sum(i, 0, q-1, min(radix, ceil(S/radix^i)) - 1), S = ceil(p/cores), "
                     "c = min(cores, p)",
           .sent = "p-1",
           .reduced = "0"},
          "<= c-1 + (S-1) c, S = ceil(p/cores), c = min(cores, p)"),
      .params = {patterns::cores, patterns::radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
