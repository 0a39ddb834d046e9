// alltoall(v)/circulant: the optimal reduce-scatter of the circulant graph, with lists instead of sums.
//
// Idea      R[i] is the list of blocks on their way to r + i, at first this rank's own. Round k = q-1 .. 0 sends the
//           lists R[s_k .. s_(k+1) - 1] to r + s_k, where they are appended to R[0 ..]. A block so travels the skips of
//           which its distance is the greedy sum.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      q = ceil(log2 p) rounds. A rank sends and receives (sum over 0 < d < p of the hops of d) blocks: never more
//           than bruck, q p / 2 if p = 2^q. One block copied.
// Scratch   the blocks that pass through: those sent, less p - 1.
// Order     no operator.
// Source    Traff, arXiv 2410.14234: reduce-scatter with concatenation for the operator.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/forwarding.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  std::vector<patterns::ForwardingRound> rounds;
  for (int k = skips.q() - 1; k >= 0; --k) {
    auto& round = rounds.emplace_back(patterns::ForwardingRound{.skip = skips[k]});
    for (Rank d = skips[k]; d < skips[k + 1]; ++d) round.distances.push_back(d);
  }
  patterns::alltoall_by_forwarding(b, rounds);
}

/// Hops of a distance: how many skips its greedy sum has.
std::int64_t hops(const patterns::Skips& skips, Rank distance) {
  std::int64_t number = 0;
  for (int k = skips.q() - 1; k >= 0; --k) {
    if (distance < skips[k]) continue;
    distance -= skips[k];
    ++number;
  }
  return number;
}

Cost cost(const Shape& shape) {
  const patterns::Skips skips(shape.size);
  // The distances s_k .. s_(k+1) - 1 hop once, to 0 .. s_(k+1) - s_k - 1: all below s_k, or all but the last.
  std::int64_t sent = 0;
  for (int k = 0; k < skips.q(); ++k) {
    const std::int64_t rest = skips.jump(k) == skips[k] ? sent : sent - hops(skips, skips[k] - 1);
    sent += skips.jump(k) + rest;
  }
  return {.rounds = skips.q(), .sent = sent, .received = sent, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, circulant) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "blocks travel over the skips of the circulant graph; short blocks, less volume than bruck",
      .source = "Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "vectors up to 16 KiB for p = 5, 32 for 11, 64 for 36, 128 for 100, 1 MiB for 1000",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "q", .sent = "counted; q p/2 for p = P", .reduced = "0"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
