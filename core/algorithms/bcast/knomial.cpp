// bcast/knomial: a tree in which every rank serves radix - 1 others per level.
//
// Idea      Ranks v relative to the root, in digits of base k = radix. Level by level, the largest weight w = k^i
//           first, the ranks whose lower digits are zero send to v + w, v + 2w, ..., v + (k-1) w, one after the other.
//           radix 2 is the binomial tree. One rank sends one message at a time. So larger radices pay where a message
//           can leave before the one before has arrived.
// Shape     any p, any root; one block.
// Cost      (k - 1) levels + ceil(p / w) - 1 rounds, where w is the largest power of k below p and levels = log_k w.
//           The root sends a block in each round.
// Scratch   none.
// Order     no operator.
// Source    Open MPI, coll/base, bcast_intra_knomial.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;

using patterns::radix;

void build(Builder& b) {
  const Rank p = b.size();
  const patterns::KnomialTree tree(p, b.param(radix.name, radix.fallback));
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  tree.each_round_down([&](Rank weight, Rank step) {
    if (tree.is_parent(v, weight, step)) b.send((b.rank() + step) % p, b.output());
    if (tree.is_child(v, weight, step)) b.recv(patterns::mod(b.rank() - step, p), b.output());
    b.next_round();
  });
}

Cost cost(const Shape& shape) {
  const std::int64_t rounds = patterns::KnomialTree(shape.size, patterns::value_of(shape, radix)).rounds();
  return {.rounds = rounds, .sent = rounds, .received = shape.size > 1 ? 1 : 0};
}

/// A rank receives in a round of one level and sends in those of the levels below.
CriticalPath path(const Shape& shape) {
  const std::int64_t rounds = cost(shape).rounds;
  return patterns::one_way_path(1, rounds, rounds);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, knomial) {
  return {
      .summary = "a tree with radix - 1 children per level; short vectors",
      .source = "Open MPI, coll/base",
      .family = Family::tree,
      .when =
          "never by cost: for a few bytes where a rank can have several messages on their way. Measured at 100 Mbit/s, "
          "8 hosts: up to 23 bytes",
      .peers = {openmpi("knomial"), mpich("tsp_tree"), ucc("knomial")},
      .formula = patterns::one_way(
          {.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)", .sent = "rounds", .reduced = "0"}, "rounds"),
      .params = {radix},
      .cost = cost,
      .path = path,
      .levels = patterns::knomial_levels,
      .on_ports = patterns::knomial_bcast_on_ports,
      .build = build,
  };
}
