// reduce/double_tree: the reversal of bcast/double_tree.
//
// Idea      Halves of the vector go up two binary trees, and an inner rank of one is a leaf of the other. So a rank
//           sends in every round, and an inner rank receives and combines in every round.
// Shape     any p, any root; the vector cut into 2n blocks, n = segments of each half.
// Cost      2(n + floor(log2(p-1))) rounds; 2n blocks sent, received and combined per rank at most.
// Scratch   half of the vector at most, and four arrival buffers of one block.
// Order     commutative operators.
// Source    Sanders, Speck, Traff 2009. Differs: as bcast/double_tree.
#include "circoll/algorithm.hpp"
#include "circoll/transform.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that each half of the vector is cut into");

void build(Builder& b) {
  b.cut(2 * b.param(segments.name, segments.fallback));
  append_reversed(b, build_part(b, "bcast/double_tree", part_shape(b)), Reversal::reduce, {.depth = 4});
}

Cost cost(const Shape& shape) { return patterns::cost_of_reversed_bcast(shape, "bcast/double_tree"); }
CriticalPath path(const Shape& shape) { return patterns::path_of_reversed_bcast(shape, "bcast/double_tree"); }

}  // namespace

CIRCOLL_ALGORITHM(reduce, double_tree) {
  return {
      .summary = "halves up two binary trees whose inner ranks differ; long vectors",
      .source = "Sanders, Speck, Traff 2009",
      .family = Family::tree,
      .when = "never by cost: more rounds than circulant_pipelined, as much volume; for comparison",
      .automatic = false,
      .peers = {ucc("dbt")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "2(n + floor(log2(p-1)))",
                  .sent = "2n",
                  .reduced = "2n",
                  .blocks = "2n",
                  .two_way = "rounds - one_way",
                  .one_way = "counted",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way",
                  .combined = "rounds"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
