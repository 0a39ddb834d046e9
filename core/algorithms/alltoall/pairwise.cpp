// alltoall(v)/pairwise: one exchange after the other, so that no link is shared by many messages.
//
// Idea      If p is a power of two, rank r exchanges with r xor i in round i. Otherwise it sends to r + i and receives
//           from r - i. The messages of a round wait for those of the round before, by explicit edges.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      p - 1 rounds; p - 1 blocks sent and received per rank. One block copied.
// Scratch   none.
// Order     no operator.
// Source    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005, 4.3.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  const bool power_of_two = (p & (p - 1)) == 0;
  b.copy(b.output(r, 1), b.input(r, 1));
  for (Rank i = 1; i < p; ++i) {
    const Rank to = power_of_two ? r ^ i : (r + i) % p;
    const Rank from = power_of_two ? r ^ i : patterns::mod(r - i, p);
    const StepIndex first = b.step_count();
    b.sendrecv(to, b.input(to, 1), from, b.output(from, 1));
    if (i > 1) {
      for (const StepIndex now : {first, first + 1}) {
        b.edge(first - 2, now);
        b.edge(first - 1, now);
      }
    }
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, pairwise) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "one exchange after the other; long blocks",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::pairwise,
      .when =
          "never by cost: as linear, and messages wait for those before. Measured at 100 Mbit/s: from 12 KiB on, where "
          "many at once disturb one another",
      .peers = {openmpi("pairwise"), mpich("pairwise", {Collective::alltoall}),
                mpich("pairwise_sendrecv_replace", {Collective::alltoallv}), ucc("pairwise")},
      .guarantees = {.direct = true},
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .build = build,
  };
}
