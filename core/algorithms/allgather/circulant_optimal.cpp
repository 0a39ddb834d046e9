// allgather(v)/circulant_optimal: every rank collects the blocks of the ranks after it, doubling (roughly) each round.
//
// Idea      R[i] names block (r + i) mod p. In round k rank r sends R[0 .. s_{k+1} - s_k - 1] to r - s_k and receives
//           R[s_k .. s_{k+1} - 1] from r + s_k. Every range is cyclic in the receive buffer: at most two pieces, no
//           rotation, no scratch.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank: both are optimal. One block copied. With
//           p <= 3/4 of 2^q one round need not wait for the round before: of 11 ranks, that of distance 2 sends R[0].
// Order     no operator.
// Source    J. L. Traff, arXiv 2410.14234, with the roughly halving skips of Listing 1.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  for (int k = 0; k < skips.q(); ++k) {
    const Rank s = skips[k];
    const std::int64_t blocks = skips[k + 1] - s;
    // The first message does not wait for the local copy.
    const Region out = k == 0 ? b.input() : b.output(r, blocks);
    b.sendrecv(patterns::mod(r - s, p), out, (r + s) % p, b.output((r + s) % p, blocks));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, circulant_optimal) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "cyclic ranges straight in the receive buffer; round and volume optimal for every p",
      .source = "Traff, arXiv 2410.14234",
      .family = Family::circulant,
      .when = "as circulant; it wins the tie if p <= 3/4 of the next power of two, where one round need not wait",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
