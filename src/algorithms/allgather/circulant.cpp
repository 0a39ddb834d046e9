// allgather(v)/circulant: the paper's all-to-all broadcast, with the trick that halves the local copies.
//
// Idea      Round k gathers the blocks r + s_k .. r + s_{k+1} - 1 behind those gathered before. The first s_{q-1}
//           blocks go to a lower buffer, the others to an upper one; at most one of the two is broken by the end of the
//           receive buffer, only that one lies in scratch and is copied at the end.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank; 1 + ceil(p/2) blocks copied at most.
// Scratch   ceil(p/2) blocks.
// Order     no operator.
// Source    Traff, Hunold, Vardas, Funk: Uniform Algorithms for Reduce-scatter and (most) other Collectives, III-E,
//           Listing 7, with the listing's undefined names read as last = s_{q-1} and one index i = k.
#include "patterns/circulant.hpp"
#include "circoll/algorithm.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const Rank r = b.rank();
  const int q = skips.q();
  if (q == 0) return b.copy(b.output(), b.input());

  const Rank last = skips[q - 1];
  const bool low_in_place = r + last <= p;
  const bool upper_in_place = !low_in_place || r == 0;
  const Region low = low_in_place ? b.output(r, last) : b.region(b.scratch(last, r));
  const Region upper = upper_in_place ? b.output((r + last) % p, p - last) : b.region(b.scratch(p - last, r + last));

  b.copy(b.part(low, 0, 1), b.input());
  for (int k = 0; k < q; ++k) {
    const std::int64_t blocks = skips.jump(k);
    const Rank e = skips.odd(k) ? 1 : 0;
    const Region in = k < q - 1 ? b.part(low, skips[k], blocks) : upper;
    b.sendrecv(patterns::mod(r - skips[k] + e, p), b.part(low, e, blocks), (r + skips[k] - e) % p, in);
    b.next_round();
  }
  if (!low_in_place) b.copy(b.output(r, last), low);
  if (!upper_in_place) b.copy(b.output((r + last) % p, p - last), upper);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const Rank half = p - p / 2;  // = skips[q - 1] for p > 1
  // In place the own block is copied only where the lower buffer is scratch: ranks above p - half, if any.
  std::int64_t copied = shape.in_place ? half : 1 + half;
  if (p == 1) copied = shape.in_place ? 0 : 1;
  if (p >= 3) copied = 1 + half;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .reduced = 0, .copied = copied};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, circulant) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "the paper's allgather: round and volume optimal, half of the blocks copied",
      .source = "Traff et al., Uniform Algorithms, III-E, Listing 7",
      .family = Family::circulant,
      .when =
          "never by cost: circulant_optimal is as fast and copies less; measured, 4 hosts of 4 ranks, 23 KiB to 1.4 "
          "MiB",
      .formula = {.rounds = "ceil(log2 p)", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .build = build,
  };
}
