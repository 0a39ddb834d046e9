// allreduce/rabenseifner: reduce_scatter by vector halving and distance doubling, allgather the same way
// back.
//
// Idea      p' = 2^floor(log2 p) blocks. If p > p', the first 2 (p - p') ranks form pairs of neighbours: the
//           even one sends the second half of the vector, the odd one the first; both combine a half, the odd
//           one hands its half over and is removed until it gets the whole result at the end. The remaining
//           ones, numbered 0 .. p' - 1, exchange halves of what they hold at distances 1, 2, 4, ... until
//           each has a block complete; then the same exchanges in opposite order spread the blocks.
// Shape     any p; p' blocks, empty ones included (fewer elements than p').
// Cost      L = log2 p'. p = p': 2L rounds, 2(p'-1) blocks sent and received, p' - 1 combined. Else 2L + 3
//           rounds; 7p'/2 - 2 blocks sent, 3p' - 2 received, 3p'/2 - 1 combined at most.
// Scratch   p' blocks at most, and half as many for pairs.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Rabenseifner: Optimization of Collective Reduction Operations, 2004; Open MPI, libnbc. Differs:
//           their descriptions ask for commutative operators and at least p' elements. Groups of places are
//           runs of ranks, and dst = left op right keeps their order; blocks may be empty.
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"
#include "patterns/power_of_two.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Folding folding(b.size());
  const Rank r = b.rank();
  const Rank n = folding.power();
  const int levels = folding.levels();
  b.cut(n);
  if (levels == 0) return b.copy(b.output(), b.input());

  Region held = b.input();
  const auto first_half = [&](const Region& of) { return b.part(of, 0, of.count() / 2); };
  const auto second_half = [&](const Region& of) { return b.part(of, of.count() / 2, of.count() / 2); };
  if (folding.pairs() > 0) {
    const Rank partner = folding.partner(r);
    if (folding.removed(r)) {
      const Region arrived = b.region(b.scratch(n / 2, n / 2));
      b.sendrecv(partner, first_half(held), partner, arrived);
      b.next_round();
      b.reduce(arrived, arrived, second_half(held));
      b.send(partner, arrived);
      b.next_round(1 + 2 * static_cast<std::uint32_t>(levels));
      b.recv(partner, b.output());
      return b.next_round();
    }
    if (folding.paired(r)) {
      const Region arrived = b.region(b.scratch(n / 2, 0));
      b.sendrecv(partner, second_half(held), partner, arrived);
      b.next_round();
      b.reduce(first_half(b.output()), first_half(held), arrived);
      b.recv(partner, second_half(b.output()));
      b.next_round();
      held = b.output();
    } else {
      b.next_round(2);
    }
  }

  const Rank place = folding.place_of(r);
  for (int k = 0; k < levels; ++k) {
    const Rank other = place ^ (Rank{1} << k);
    const bool low = other > place;
    const Region kept = low ? first_half(held) : second_half(held);
    const Region result = b.output(patterns::halved_first(place, k + 1, n), n >> (k + 1));
    const Region arrived = b.region(b.scratch_like(kept));
    b.sendrecv(folding.rank_at(other), low ? second_half(held) : first_half(held), folding.rank_at(other),
               arrived);
    low ? b.reduce(result, kept, arrived) : b.reduce(result, arrived, kept);
    held = result;
    b.next_round();
  }
  for (int k = levels - 1; k >= 0; --k) {
    const Rank other = place ^ (Rank{1} << k);
    b.sendrecv(folding.rank_at(other), held, folding.rank_at(other),
               b.output(patterns::halved_first(other, k + 1, n), n >> (k + 1)));
    held = b.output(patterns::halved_first(place, k, n), n >> k);
    b.next_round();
  }
  if (folding.paired(r)) b.send(folding.partner(r), held);
  b.next_round(folding.pairs() > 0 ? 1 : 0);
}

Cost cost(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const Rank n = folding.power();
  const std::int64_t levels = folding.levels();
  if (folding.pairs() == 0) {
    return {.rounds = 2 * levels,
            .sent = 2 * (n - 1),
            .received = 2 * (n - 1),
            .reduced = n - 1,
            .copied = patterns::lonely_copy(shape)};
  }
  return {.rounds = 2 * levels + 3,
          .sent = n / 2 + 2 * (n - 1) + n,
          .received = n / 2 + n / 2 + 2 * (n - 1),
          .reduced = n / 2 + n - 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, rabenseifner) {
  static const Algorithm algorithm{
      .collectives = {Collective::allreduce},
      .name = "rabenseifner",
      .summary = "recursive halving, then recursive doubling; long vectors",
      .source = "Rabenseifner 2004",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2 log2 p; 2L+3 unless p = 2^L",
                  .sent = "2(p-1); 7p'/2-2, p' = 2^L",
                  .reduced = "p-1; 3p'/2-1"},
      .cost = cost,
      .build = build,
  };
  return algorithm;
}
