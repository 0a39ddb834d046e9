// bcast/bine: a binomial tree in which parent and child are a third closer to each other.
//
// Idea      The ranks stand in a ring around the root, and an interval of them is halved in each round. The holder
//           gives its data to a rank of the other half, a third of the interval away (patterns/bine.hpp).
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds; the root sends a block in each, every other rank receives one.
// Scratch   none.
// Order     no operator.
// Source    De Sensi et al., Bine Trees, SC 2025. Differs: any p. The source's tree is for powers of two, where this is
//           the same; another p halves its intervals unequally.
#include "patterns/bine.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;
using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const patterns::BineTree tree(p, mod(b.rank() - b.root(), p));
  for (const patterns::BineTree::Edge& edge : tree.rounds()) {
    if (edge.ranks > 0 && edge.parent == tree.place()) b.send(mod(edge.child + b.root(), p), b.output());
    if (edge.ranks > 0 && edge.child == tree.place()) b.recv(mod(edge.parent + b.root(), p), b.output());
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = q, .sent = q, .received = shape.size > 1 ? 1 : 0};
}

CriticalPath path(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return patterns::one_way_path(1, q, q);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, bine) {
  return {
      .summary = "binomial tree over distances a third shorter; short vectors",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::tree,
      .when =
          "never by cost: no price for distance; short vectors: as many rounds as binomial, distances a third shorter",
      .automatic = false,
      .formula = patterns::one_way({.rounds = "q", .sent = "q", .reduced = "0"}, "q"),
      .cost = cost,
      .path = path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
