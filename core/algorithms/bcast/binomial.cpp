// bcast/binomial: the vector goes down a binomial tree.
//
// Idea      Ranks v are relative to the root. In the round of mask 2^k, k = q-1 .. 0, every v that is a
//           multiple of 2^(k+1) sends to v + 2^k, if there is one.
// Shape     any p, any root; one block.
// Cost      q = ceil(log2 p) rounds; the root sends q blocks, a rank receives one.
// Scratch   none.
// Order     no operator.
// Source    folklore; Thakur, Rabenseifner, Gropp 2005, 4.2.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::binomial_bcast(b, b.output(), b.root()); }

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = q, .sent = q, .received = q > 0 ? 1 : 0};
}

CriticalPath path(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return patterns::one_way_path(1, q, q);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, binomial) {
  return {
      .summary = "binomial tree; short vectors",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::tree,
      .when =
          "short vectors: as fast as circulant_pipelined with one segment, which wins the tie; first for p = 1000 on "
          "nodes of 10",
      .peers = {openmpi("binomial"), mpich("binomial")},
      .formula = patterns::one_way({.rounds = "ceil(log2 p)", .sent = "q", .reduced = "0", .one_way = "q"}, "q"),
      .cost = cost,
      .path = path,
      .levels = patterns::binomial_levels,
      .build = build,
  };
}
