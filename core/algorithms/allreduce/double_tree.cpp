// allreduce/double_tree: reduce/double_tree to rank 0, then bcast/double_tree from it.
//
// Idea      Halves of the vector go up two binary trees and down again. A rank that is inner in one tree is a leaf in
//           the other, so that its port has work in most rounds. NCCL has this for many nodes.
// Shape     any p; the vector cut into 2n blocks, n = segments of each half.
// Cost      4(n + floor(log2(p-1))) rounds; 4n blocks sent and received, 2n combined per rank at most: twice the volume
//           of allreduce/circulant_optimal.
// Scratch   as reduce/double_tree.
// Order     commutative operators; rank 0 computes the result: same bits on all ranks.
// Source    Sanders, Speck, Traff 2009; NCCL 2.4. Differs: as bcast/double_tree.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/composed.hpp"
#include "patterns/costs.hpp"
#include "patterns/double_tree.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that each half of the vector is cut into");

void build(Builder& b) {
  b.cut(2 * b.param(segments.name, segments.fallback));
  patterns::allreduce_by_root(b, "reduce/double_tree", "bcast/double_tree");
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  if (p == 1) return {.copied = 2 * n * patterns::lonely_copy(shape)};
  const std::int64_t volume = n * std::min<Rank>(p, 4);  // inner ranks with two children send both up and down
  return {.rounds = 2 * patterns::DoubleTree(p).rounds(n), .sent = volume, .received = volume, .reduced = 2 * n};
}

CriticalPath path(const Shape& shape) {
  return patterns::path_by_root(shape, "reduce/double_tree", "bcast/double_tree");
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, double_tree) {
  return {
      .summary = "halves up two binary trees and down again; long vectors",
      .source = "Sanders, Speck, Traff 2009",
      .family = Family::tree,
      .when = "never by cost: twice the volume of circulant_optimal; for comparison with NCCL",
      .automatic = false,
      .peers = {ucc("dbt")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "4(n + floor(log2(p-1)))",
                  .sent = "n min(p, 4)",
                  .reduced = "2n",
                  .blocks = "2n",
                  .two_way = "rounds - one_way",
                  .one_way = "counted",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way",
                  .combined = "rounds/2"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
