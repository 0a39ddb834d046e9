// bcast/scatter_allgather: binomial scatter of p parts, then ring allgather of them.
//
// Idea      The parts that pass through a rank stay where they belong in its buffer; then all parts go around
//           the ring.
// Shape     any p, any root; p blocks, empty ones included.
// Cost      q + p - 1 rounds, q = ceil(log2 p); the root sends 2(p-1) blocks: volume 2 (p-1)/p m. A rank
//           receives p - 1 + max(p - 2^(q-1), 2^(q-2)) at most.
// Scratch   none.
// Order     no operator.
// Source    Barnett, Gupta, Payne, Shuler, van de Geijn, Watts: Interprocessor Collective Communication
//           Library, 1994; Thakur, Rabenseifner, Gropp 2005, 4.2.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  b.cut(b.size());
  if (b.size() == 1) return;
  patterns::binomial_scatter(b, b.output(), b.root());
  Shape gather = part_shape(b);
  gather.in_place = true;
  b.embed(build_part(b, "allgatherv/ring", gather), {.recv = b.output()});
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {
      .rounds = patterns::ceil_log2(p) + p - 1, .sent = 2 * (p - 1), .received = p - 1 + patterns::binomial_most(p)};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  return {.blocks = p, .one_way = patterns::ceil_log2(p), .volume = p - 1, .one_way_volume = p - 1};
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, scatter_allgather) {
  return {
      .summary = "binomial scatter, then ring allgather; long vectors",
      .source = "Barnett et al. 1994",
      .family = Family::ring,
      .when = "64 KiB to 1 MiB on few nodes of several ranks: in the ring one message at a time crosses a port",
      .peers = {openmpi("scatter_allgather_ring"), mpich("scatter_ring_allgather")},
      .formula = {.rounds = "ceil(log2 p)+p-1",
                  .sent = "2(p-1)",
                  .reduced = "0",
                  .blocks = "p",
                  .two_way = "p-1",
                  .one_way = "q",
                  .volume = "p-1",
                  .one_way_volume = "p-1"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
