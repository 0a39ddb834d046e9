// alltoall(v)/linear: every rank sends to every other one, all at once.
//
// Idea      In round i rank r sends to r + i and receives from r - i. Nothing waits for anything: all messages can
//           leave at once.
// Shape     any p; p * p blocks of any sizes, of which a rank sends p and receives p.
// Cost      p - 1 rounds; p - 1 blocks sent and received per rank. One block copied.
// Scratch   none.
// Order     no operator.
// Source    folklore; Open MPI, coll/base, basic_linear. Differs: a listing in which all ranks begin with rank 0 gives
//           that p - 1 messages at once; here the receivers take turns.
#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input(r, 1));
  for (Rank i = 1; i < p; ++i) {
    const Rank to = (r + i) % p;
    const Rank from = patterns::mod(r - i, p);
    b.sendrecv(to, b.input(to, 1), from, b.output(from, 1));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = p - 1, .sent = p - 1, .received = p - 1, .copied = 1};
}

}  // namespace

CIRCOLL_ALGORITHM(alltoall, linear) {
  return {
      .collectives = {Collective::alltoall, Collective::alltoallv},
      .summary = "every rank sends to every other one, all at once",
      .source = "folklore",
      .family = Family::pairwise,
      .when = "long blocks: every block travels once; alltoallv of every size",
      .peers = {openmpi("linear", {Collective::alltoall}), openmpi("basic_linear", {Collective::alltoallv}),
                mpich("scattered"), ucc("linear")},
      .guarantees = {.direct = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "p-1", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = patterns::one_level,
      .build = build,
  };
}
