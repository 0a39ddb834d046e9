// allgather(v)/linear: every rank sends its block to every other one.
//
// Idea      In round i rank r sends its own block to r + i and receives that of r - i. Nothing is passed on:
//           every message can leave at once.
// Shape     any p; p blocks of any sizes.
// Cost      p - 1 rounds; p - 1 blocks sent and received per rank. One block copied.
// Scratch   none.
// Order     no operator.
// Source    folklore. Differs: a listing in which all ranks send to rank 0 first, then to 1, ... lets a rank
//           receive from all others at once; here the receivers take turns. Open MPI's basic_linear is
//           allgather/gather_bcast.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  for (Rank i = 1; i < p; ++i) {
    const Rank from = patterns::mod(r - i, p);
    b.sendrecv((r + i) % p, b.input(), from, b.output(from, 1));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, linear) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "every rank sends its block to every other one",
      .source = "folklore",
      .family = Family::pairwise,
      .when = "never by cost: p - 1 rounds; for long blocks if all messages of a rank may be on their way at once",
      .peers = {ucc("linear", {Collective::allgather})},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = patterns::one_level,
      .build = build,
  };
}
