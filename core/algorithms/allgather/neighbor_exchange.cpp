// allgather(v)/neighbor_exchange: neighbours exchange pairs of blocks, to one side and to the other in turn.
//
// Idea      Ranks 2i and 2i + 1 exchange their blocks first. Then every rank gives the neighbour on the other
//           side the two blocks that it got last, and gets two new ones from there, and so on: half the
//           rounds of a ring.
// Shape     even p; p blocks of any sizes.
// Cost      p/2 rounds; p - 1 blocks sent and received per rank: 1, then 2 per round. One block copied.
// Scratch   none.
// Order     no operator.
// Source    Chen, Zhang, Zhang, Yuan: Performance Evaluation of Allgather Algorithms on Terascale Linux
//           Cluster with Fast Ethernet, 2005.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  const Rank side = r % 2 == 0 ? 1 : -1;  // of the first partner
  const Rank partner = mod(r + side, p);
  b.sendrecv(partner, b.input(), partner, b.output(partner, 1));
  b.next_round();
  // The first, even block of a pair names the pair. An even rank gets from its first partner pairs that lie two further
  // up each time, and from the other partner pairs that lie two further down. For odd ranks it is the other way round.
  Rank newest = r - r % 2;
  Rank from_first = newest;
  Rank from_second = newest;
  for (Rank i = 1; i < p / 2; ++i) {
    const bool second = i % 2 == 1;
    Rank& pair = second ? from_second : from_first;
    pair = mod(pair + (second ? -2 : 2) * side, p);
    const Rank other = mod(r + (second ? -side : side), p);
    b.sendrecv(other, b.output(newest, 2), other, b.output(pair, 2));
    newest = pair;
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p / 2, .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, neighbor_exchange) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "pairs of blocks between neighbours, to both sides in turn; half the rounds of a ring",
      .source = "Chen et al. 2005",
      .family = Family::ring,
      .when = "never by cost: p/2 rounds; for long blocks and even p where only neighbours are near",
      .peers = {openmpi("neighbor"), ucc("neighbor", {Collective::allgather})},
      .needs = {.even_size = true},
      .formula = {.rounds = "p/2", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .build = build,
  };
}
