// allreduce/recursive_doubling: whole vectors exchanged between ranks at distances 1, 2, 4, ...
//
// Idea      After k steps aligned groups of 2^k places know the sum of the group, on all its members, by the
//           same expression. If p is not a power of two, the first 2 (p - 2^L) ranks form pairs of
//           neighbours: the odd one gives its vector to the even one before, and gets the result after.
// Shape     any p; one block.
// Cost      L = floor(log2 p): L rounds, and 2 more unless p = 2^L; as many blocks sent and received; L
//           combined, and 1 more unless p = 2^L.
// Scratch   three blocks.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005,
//           4.5. Differs: listings that pair rank n with n - 2^L lose the order of ranks; neighbours (MPICH,
//           Open MPI) keep it.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Folding folding(b.size());
  const Rank r = b.rank();
  const int levels = folding.levels();
  const std::uint32_t after = folding.pairs() > 0 ? 1 : 0;
  if (levels == 0) return b.copy(b.output(), b.input());
  if (folding.removed(r)) {
    b.send(folding.partner(r), b.input());
    b.next_round(after + static_cast<std::uint32_t>(levels));
    b.recv(folding.partner(r), b.output());
    return b.next_round(after);
  }
  patterns::Arrivals arrivals(b, b.input());
  Region sum = b.input();
  if (folding.paired(r)) {
    const Region arrived = arrivals.next();
    b.recv(folding.partner(r), arrived);
    b.reduce(arrived, sum, arrived);
    sum = arrived;
  }
  b.next_round(after);
  const Rank place = folding.place_of(r);
  for (int k = 0; k < levels; ++k) {
    const Rank other = place ^ (Rank{1} << k);
    const Region arrived = arrivals.next();
    b.sendrecv(folding.rank_at(other), sum, folding.rank_at(other), arrived);
    const Region next = k == levels - 1 ? b.output() : arrived;
    other > place ? b.reduce(next, sum, arrived) : b.reduce(next, arrived, sum);
    sum = next;
    b.next_round();
  }
  if (folding.paired(r)) b.send(folding.partner(r), b.output());
  b.next_round(after);
}

Cost cost(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const std::int64_t levels = folding.levels();
  const std::int64_t fold = folding.pairs() > 0 ? 1 : 0;
  return {.rounds = levels + 2 * fold,
          .sent = levels + fold,
          .received = levels + fold,
          .reduced = levels + fold,
          .copied = patterns::lonely_copy(shape)};
}

CriticalPath path(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const std::int64_t fold = folding.pairs() > 0 ? 1 : 0;
  return {
      .one_way = 2 * fold, .volume = folding.levels(), .one_way_volume = 2 * fold, .combined = folding.levels() + fold};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, recursive_doubling) {
  return {
      .summary = "whole vectors between ranks at doubling distances; short vectors, any operator",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when = "up to about 4 KiB, beyond the sizes of allgather_reduce: the same bits, operators that do not commute",
      .peers = {openmpi("recursive_doubling"), mpich("recursive_doubling"), ucc("knomial (radix 2)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "L + 2[r>0]",
                  .sent = "L + [r>0]",
                  .reduced = "L + [r>0]",
                  .two_way = "L",
                  .one_way = "2[r>0]",
                  .volume = "L",
                  .one_way_volume = "2[r>0]"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
