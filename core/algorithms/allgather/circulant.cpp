// allgather(v)/circulant: the paper's all-to-all broadcast, in place.
//
// Idea      Round k gathers the blocks r + s_k .. r + s_{k+1} - 1 behind those gathered before. They go to their places
//           in the receive buffer, around its end where they reach it: a message of two pieces at most.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank; one block copied.
// Scratch   none.
// Order     no operator.
// Source    Traff, Hunold, Vardas, Funk: Uniform Algorithms for Reduce-scatter and (most) other Collectives, III-E,
//           Listing 7, with the listing's undefined names read as last = s_{q-1} and one index i = k. There a part that
//           the end of the buffer breaks is gathered elsewhere and copied at the end, so that all messages are in one
//           piece.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  for (int k = 0; k < skips.q(); ++k) {
    const std::int64_t blocks = skips.jump(k);
    const Rank e = skips.odd(k) ? 1 : 0;
    // The first message does not wait for the local copy.
    const Region out = k == 0 ? b.input() : b.output((r + e) % p, blocks);
    b.sendrecv(patterns::mod(r - skips[k] + e, p), out, (r + skips[k] - e) % p, b.output((r + skips[k]) % p, blocks));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, circulant) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "the paper's allgather: round and volume optimal, nothing copied",
      .source = "Traff et al., Uniform Algorithms, III-E, Listing 7",
      .family = Family::circulant,
      .when = "every p and size, if p ranks do not share few ports: no fewer rounds, no less volume are possible",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .build = build,
  };
}
