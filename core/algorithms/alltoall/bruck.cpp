// alltoall(v)/bruck: blocks travel the binary digits of their distance.
//
// Idea      Round k takes everything that has a distance with bit k set 2^k ranks on. A block so makes as many hops as
//           its distance d - s mod p has bits.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      q = ceil(log2 p) rounds. A rank sends and receives (sum over 0 < d < p of the ones in d) blocks: q p / 2 if
//           p = 2^q. One block copied.
// Scratch   the blocks that pass through: those sent, less p - 1.
// Order     no operator.
// Source    Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems,
//           1997. Differs: no rotation before or after. Ranges name the blocks where they lie, and a block that arrives
//           lands in its place.
#include "patterns/bruck.hpp"
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) { patterns::alltoall_by_digits(b, 2); }

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const std::int64_t sent = patterns::digits_below(p, 2);
  return {.rounds = patterns::ceil_log2(p), .sent = sent, .received = sent, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, bruck) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "blocks travel the binary digits of their distance; short blocks",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "the sizes of circulant, which sends no more blocks and wins the tie",
      .peers = {openmpi("modified_bruck", {Collective::alltoall}), mpich("brucks", {Collective::alltoall}),
                ucc("bruck", {Collective::alltoall})},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "q",
                  .sent = "sum(i, 0, q-1, 2^i floor(p/2^(i+1)) + max(0, p mod 2^(i+1) - 2^i))",
                  .reduced = "0"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
