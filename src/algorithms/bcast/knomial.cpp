// bcast/knomial: a tree in which every rank serves radix - 1 others per level.
//
// Idea      Ranks v relative to the root, in digits of base k = radix. Level by level, the largest weight w = k^i first,
//           the ranks whose lower digits are zero send to v + w, v + 2w, ..., v + (k-1) w, one after the other. radix 2
//           is the binomial tree. One rank sends one message at a time: larger radices pay where a message can leave
//           before the one before has arrived.
// Shape     any p, any root; one block.
// Cost      (k - 1) levels + ceil(p / w) - 1 rounds, w the largest power of k below p and levels = log_k w; the root
//           sends a block in each.
// Scratch   none.
// Order     no operator.
// Source    Open MPI, coll/base, bcast_intra_knomial.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::radix;

/// The largest power of k below p, p > 1.
Rank top_weight(Rank p, std::int64_t k) {
  Rank weight = 1;
  while (weight <= (p - 1) / k) weight *= k;
  return weight;
}

void build(Builder& b) {
  const Rank p = b.size();
  const std::int64_t k = b.param(radix.name, radix.fallback);
  if (p == 1) return;
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  const auto rank_at = [&](Rank relative) { return (relative + b.root()) % p; };
  for (Rank weight = top_weight(p, k); weight > 0; weight /= k) {
    const Rank digit = v / weight % k;
    for (Rank j = 1; j < k && j * weight < p; ++j) {
      if (v % weight == 0) {
        if (digit == 0 && v + j * weight < p) b.send(rank_at(v + j * weight), b.output());
        if (digit == j) b.recv(rank_at(v - j * weight), b.output());
      }
      b.next_round();
    }
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t k = patterns::value_of(shape, radix);
  if (p == 1) return {};
  std::int64_t rounds = 0;
  for (Rank weight = top_weight(p, k); weight > 0; weight /= k) rounds += std::min(k, (p + weight - 1) / weight) - 1;
  return {.rounds = rounds, .sent = rounds, .received = 1};
}

/// A rank receives in a round of one level and sends in those of the levels below.
CriticalPath path(const Shape& shape) {
  const std::int64_t rounds = cost(shape).rounds;
  return patterns::one_way_path(1, rounds, rounds);
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, knomial) {
  static const Algorithm algorithm{
      .collectives = {Collective::bcast},
      .name = "knomial",
      .summary = "a tree with radix - 1 children per level; short vectors",
      .source = "Open MPI, coll/base",
      .formula = {.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)",
                  .sent = "rounds",
                  .reduced = "0",
                  .two_way = "0",
                  .one_way = "rounds",
                  .volume = "0",
                  .one_way_volume = "rounds"},
      .params = {radix},
      .cost = cost,
      .path = path,
      .build = build,
  };
  return algorithm;
}
