// allgather(v)/swing: the exchanges of allgather/bine in opposite order, the longest distance first.
//
// Idea      Partners are the ranks at the distances ..., 11, 5, 3, 1, 1, to both sides in turn. Even and odd ranks
//           mirror one another. One block goes far, and half of all blocks go to a neighbour. A rank sends the blocks
//           that its partner does not have yet.
// Shape     even p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank: both are optimal. One block copied.
// Scratch   none.
// Order     no operator.
// Source    De Sensi et al., Swing, NSDI 2024: second half of the allreduce, on a ring. The authors' code for even p
//           (github.com/HLC-Lab/bine-trees, src/allgather.c) has the same exchanges, a message for each block. Differs:
//           the blocks of an exchange are one message. Odd p are refused; the paper gives them an extra rank.
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/bine.hpp"

namespace {

using namespace circoll;
using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  // Distances from an even rank to the blocks that it has; an odd one has the mirror image.
  std::vector<Rank> held{0};
  std::vector<bool> has(static_cast<std::size_t>(p));
  has[0] = true;
  const auto at = [&](Rank distance) { return mod(r % 2 == 0 ? r + distance : r - distance, p); };
  for (int t = patterns::ceil_log2(p) - 1; t >= 0; --t) {
    const Rank distance = patterns::bine_distance(t);
    Region out;
    Region in;
    const std::size_t before = held.size();
    for (std::size_t i = 0; i < before; ++i) {
      // The partner has a block at this distance, and has this rank's block only if this rank has that one.
      const Rank other = mod(distance - held[i], p);
      if (has[static_cast<std::size_t>(other)]) continue;
      out.append(before == 1 ? b.input() : b.output(at(held[i]), 1));
      in.append(b.output(at(other), 1));
      held.push_back(other);
    }
    for (std::size_t i = before; i < held.size(); ++i) has[static_cast<std::size_t>(held[i])] = true;
    const Rank partner = patterns::bine_partner(r, t, p);
    b.sendrecv(partner, out, partner, in);
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, swing) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "exchanges over 1, 1, 3, 5, 11, ... ranks, the longest first; half of the blocks go to a neighbour",
      .source = "De Sensi et al., Swing, NSDI 2024",
      .family = Family::recursive_doubling,
      .when = "never by cost: not measured yet; oversubscribed networks, by the simulator: few blocks go far",
      .automatic = false,
      .needs = {.even_size = true},
      .formula = {.rounds = "q", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .build = build,
  };
}
