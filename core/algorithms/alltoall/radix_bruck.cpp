// alltoall(v)/radix_bruck: blocks travel the digits of their distance, in base `radix`.
//
// Idea      On a level of weight u everything that has a distance with the digit d > 0 there goes d u ranks on. A block
//           so makes as many hops as its distance d - s mod p has digits that are not 0. Radix 2 is bruck, and
//           radix >= p sends each block straight.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      the sum over levels of min(radix, ceil(p / u)) - 1 rounds. A rank sends and receives (sum over 0 < d < p of
//           the digits of d that are not 0) blocks. One block copied.
// Scratch   the blocks that pass through: those sent, less p - 1.
// Order     no operator.
// Source    Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems,
//           1997; MPICH's k_brucks; tunable radix. Differs: as bruck.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/forwarding.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;
using patterns::radix;

void build(Builder& b) {
  const std::int64_t k = b.param(radix.name, radix.fallback);
  std::vector<patterns::ForwardingRound> rounds;
  for (Rank unit = 1; unit < b.size(); unit *= k) {
    for (Rank skip = unit; skip < unit * k && skip < b.size(); skip += unit) {
      auto& round = rounds.emplace_back(patterns::ForwardingRound{.skip = skip});
      // Lower digits have been travelled.
      for (Rank d = skip; d < b.size(); d += unit * k) round.distances.push_back(d);
    }
  }
  patterns::alltoall_by_forwarding(b, rounds);
}

Cost cost(const Shape& shape) {
  const std::int64_t k = patterns::value_of(shape, radix);
  const Rank p = shape.size;
  std::int64_t sent = 0;  // the distances below p whose digit of weight `unit` is not 0
  for (Rank unit = 1; unit < p; unit *= k) sent += p - p / (unit * k) * unit - std::min(unit, p % (unit * k));
  return {.rounds = patterns::KnomialTree(p, k).rounds(), .sent = sent, .received = sent, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, radix_bruck) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "blocks travel the digits of their distance; between bruck and pairwise in rounds and volume",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "across hosts, sizes between those of circulant and pairwise: 64 KiB for p = 16 to 64",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)",
                  .sent = "sum(i, 0, q-1, p - radix^i floor(p/radix^(i+1)) - min(radix^i, p mod radix^(i+1)))",
                  .reduced = "0"},
      .params = {radix},
      .cost = cost,
      .build = build,
  };
}
