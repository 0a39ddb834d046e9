// alltoall(v)/radix_bruck: blocks travel the digits of their distance, in base `radix`.
//
// Idea      On a level of weight u everything that has a distance with the digit d > 0 there goes d u ranks on. A block
//           so makes as many hops as its distance d - s mod p has digits that are not 0. With a radix of 2 it is
//           alltoall/bruck.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      the sum over levels of min(radix, ceil(p / u)) - 1 rounds. A rank sends and receives (sum over 0 < d < p of
//           the digits of d that are not 0) blocks. One block copied.
// Scratch   the blocks that pass through: those sent, less p - 1.
// Order     no operator.
// Source    Bruck et al.: Efficient algorithms for all-to-all communications in multiport message-passing systems,
//           1997; MPICH's k_brucks. Differs: as bruck.
#include "circoll/algorithm.hpp"
#include "patterns/bruck.hpp"

namespace {

using namespace circoll;
using patterns::radix_above_two;

void build(Builder& b) { patterns::alltoall_by_digits(b, b.param(radix_above_two.name, radix_above_two.fallback)); }

Cost cost(const Shape& shape) {
  const std::int64_t k = patterns::value_of(shape, radix_above_two);
  const Rank p = shape.size;
  const std::int64_t sent = patterns::digits_below(p, k);
  return {.rounds = patterns::KnomialTree(p, k).rounds(), .sent = sent, .received = sent, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, radix_bruck) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "blocks travel the digits of their distance; between bruck and pairwise in rounds and volume",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "never by cost: not measured yet; sizes between those of bruck and pairwise",
      .automatic = false,
      .peers = {mpich("k_brucks", {Collective::alltoall})},
      .rotation = Rotation::ranks,
      .formula = {.rounds = patterns::rounds_by_digits,
                  .sent = "sum(i, 0, q-1, p - radix^i floor(p/radix^(i+1)) - min(radix^i, p mod radix^(i+1)))",
                  .reduced = "0"},
      .params = {radix_above_two},
      .cost = cost,
      .levels = patterns::levels_by_digits,
      .on_ports = patterns::alltoall_by_digits_on_ports,
      .build = build,
  };
}
