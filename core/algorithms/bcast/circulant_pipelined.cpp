// bcast/circulant_pipelined: n blocks in n - 1 + ceil(log2 p) rounds, for every p.
//
// Idea      In round i (k = i mod q) every rank sends one block to r + skips[k] and receives a new one from r -
//           skips[k]; the schedule, computed per rank in O(log p), never lets a rank receive a block twice.
// Shape     any p, any root; the vector cut into n = segments blocks.
// Cost      n - 1 + q rounds, q = ceil(log2 p): optimal. Non-roots receive each block once; the root sends in every
//           round. T = (n - 1 + q)(alpha + beta m / n), least for n = sqrt((q - 1) beta m / alpha).
// Scratch   none.
// Order     no operator.
// Source    J. L. Traff, CLUSTER 2022 and arXiv 2407.18004.
#include "circoll/algorithm.hpp"
#include "patterns/broadcast_rounds.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

using patterns::segments;

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  const patterns::Skips skips(p);
  const Rank v = patterns::mod(b.rank() - b.root(), p);
  const auto received = patterns::blocks_received(v, skips);
  const auto sent = patterns::blocks_sent(v, skips);
  patterns::each_broadcast_round(n, skips.q(), [&](int k, std::int64_t shift) {
    const Rank to = (b.rank() + skips[k]) % p;
    const std::int64_t out = std::min(sent[static_cast<std::size_t>(k)] + shift, n - 1);
    const std::int64_t in = std::min(received[static_cast<std::size_t>(k)] + shift, n - 1);
    if (out >= 0 && to != b.root()) b.send(to, b.output(out, 1));
    if (in >= 0 && v != 0) b.recv(patterns::mod(b.rank() - skips[k], p), b.output(in, 1));
    b.next_round();
  });
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {};
  const std::int64_t rounds = n - 1 + patterns::ceil_log2(shape.size);
  return {.rounds = rounds, .sent = rounds, .received = n};
}

/// O(log^2 p): see OneWayRounds.
CriticalPath path(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {.blocks = n};
  return patterns::pipelined_path(n, n - 1 + patterns::ceil_log2(shape.size),
                                  patterns::OneWayRounds(n, patterns::Skips(shape.size)).count());
}

}  // namespace

CIRCOLL_ALGORITHM(bcast, circulant_pipelined) {
  return {
      .summary = "n blocks in n-1+ceil(log2 p) rounds, the optimum for every p",
      .source = "Traff, CLUSTER 2022; arXiv 2407.18004",
      .family = Family::circulant,
      .when = "every p and size on ranks that share no nodes: n - 1 + q rounds are the fewest for n segments",
      .formula = {.rounds = "n-1+ceil(log2 p)",
                  .sent = "n-1+q",
                  .reduced = "0",
                  .two_way = "rounds - one_way",
                  .one_way = "<= 2q + [p=2]n",
                  .volume = "rounds - one_way",
                  .one_way_volume = "one_way"},
      .params = {segments},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
