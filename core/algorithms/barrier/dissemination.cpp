// barrier/dissemination: in round k everybody tells the rank 2^k after it.
//
// Idea      Rank r may leave when it has heard, through others, of all ranks: after round k it has heard of
//           the 2^(k+1) - 1 ranks before it. Its combinations move no bytes but keep the order of messages,
//           so that the proof (every contribution arrives everywhere) is the proof of the barrier.
// Shape     any p; one block of no bytes. The executors send these messages although they are empty.
// Cost      q = ceil(log2 p) rounds; q messages sent and received per rank.
// Scratch   three blocks of no bytes.
// Order     none.
// Source    Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return b.copy(b.output(), b.input());
  patterns::Arrivals arrivals(b, b.input());
  Region heard = b.input();
  for (Rank distance = 1; distance < p; distance *= 2) {
    const Region arrived = arrivals.next();
    b.sendrecv((r + distance) % p, heard, patterns::mod(r - distance, p), arrived);
    const Region next = 2 * distance >= p ? b.output() : arrived;
    b.reduce(next, arrived, heard);
    heard = next;
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t q = patterns::ceil_log2(shape.size);
  return {.rounds = q, .sent = q, .received = q, .reduced = q, .copied = q == 0 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(barrier, dissemination) {
  return {
      .summary = "doubling distances around the ranks",
      .source = "Hensgen, Finkel, Manber 1988",
      .family = Family::dissemination,
      .when = "never by cost: as fast as circulant, which wins the tie",
      .peers = {openmpi("bruck"), mpich("dissemination")},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "q", .reduced = "q"},
      .cost = cost,
      .build = build,
  };
}
