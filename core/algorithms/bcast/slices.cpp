// bcast/slices: every rank gets a slice from the root, and gives it to all others.
//
// Idea      The root's memory is read once in all, by all ranks at the same time, and then they read slices from one
//           another: no message waits for more than one other.
// Shape     any p, any root; p blocks, empty ones included.
// Cost      2(p - 1) rounds; the root sends 2(p - 1) blocks, the others p - 1; p blocks received at most.
// Scratch   none.
// Order     no operator.
// Source    folklore: scatter/linear, then allgather(v)/linear. Differs from bcast/scatter_allgather, whose parts
//           travel down a tree and around a ring, each waiting for the one before.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.cut(p);
  for (Rank i = 1; i < p; ++i) {
    const Rank other = (b.root() + i) % p;
    if (r == b.root()) b.send(other, b.output(other, 1));
    if (r == other) b.recv(b.root(), b.output(r, 1));
    b.next_round();
  }
  // The root has all slices, and gives its own alone.
  for (Rank i = 1; i < p; ++i) {
    const Rank to = (r + i) % p;
    const Rank from = patterns::mod(r - i, p);
    if (to != b.root()) b.send(to, b.output(r, 1));
    if (r != b.root()) b.recv(from, b.output(from, 1));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = 2 * (p - 1), .sent = 2 * (p - 1), .received = p > 1 ? p : 0};
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  // Of two ranks the other one has nobody to give its slice to.
  const std::int64_t both = p > 2 ? p - 1 : 0;
  const std::int64_t one_way = 2 * (p - 1) - both;
  return {.blocks = p, .one_way = one_way, .volume = both, .one_way_volume = one_way};
}

std::int64_t levels(const Shape& shape) { return std::min<std::int64_t>(shape.size - 1, 2); }

}  // namespace

CIRCOLL_ALGORITHM(bcast, slices) {
  return {
      .summary = "a slice to each rank, which gives it to all; few ranks that share memory",
      .source = "folklore",
      .family = Family::pairwise,
      .when = "never by cost: 2(p - 1) rounds; few ranks that share memory, long vectors",
      .formula = {.rounds = "2(p-1)",
                  .sent = "2(p-1)",
                  .reduced = "0",
                  .blocks = "p",
                  .two_way = "[p>2](p-1)",
                  .one_way = "rounds - volume",
                  .volume = "[p>2](p-1)",
                  .one_way_volume = "one_way"},
      .cost = cost,
      .path = path,
      .levels = levels,
      .build = build,
  };
}
