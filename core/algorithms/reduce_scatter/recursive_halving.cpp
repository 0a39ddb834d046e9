// reduce_scatter(_block)/recursive_halving: what a rank is responsible for halves, and so does the distance.
//
// Idea      p' = 2^floor(log2 p) places. If p > p', the first 2 (p - p') ranks form pairs of neighbours: the
//           odd one gives its vector to the even one before, and gets its block after. Place x exchanges with
//           x xor p'/2, p'/4, ..., 1: it sends the blocks of the other half of the places and keeps those of
//           its own half.
// Shape     any p; p blocks of any sizes.
// Cost      L = log2 p'. p = p': L rounds, p - 1 blocks sent, received and combined. Else L + 2 rounds; p
//           blocks sent; rank 0 receives and combines p + sum over k = 1 .. L of (p'/2^k + min(p'/2^k, p -
//           p')).
// Scratch   less than the vector; for pairs the vector besides.
// Order     places at distance p'/2 are combined first: commutative operators.
// Source    Thakur, Rabenseifner, Gropp 2005, 4.3.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Folding folding(b.size());
  const Rank r = b.rank();
  const int levels = folding.levels();
  if (levels == 0) return b.copy(b.output(), b.input());
  const std::uint32_t after = folding.pairs() > 0 ? 1 : 0;
  if (folding.removed(r)) {
    b.send(folding.partner(r), b.input());
    b.next_round(after + static_cast<std::uint32_t>(levels));
    b.recv(folding.partner(r), b.output());
    return b.next_round(after);
  }
  Region held = b.input();
  Region partners_result;
  if (folding.paired(r)) {
    const Region arrived = b.region(b.scratch(b.size(), 0));
    b.recv(folding.partner(r), arrived);
    b.reduce(arrived, held, arrived);
    held = arrived;
    partners_result = b.region(b.scratch(1, folding.partner(r)));
  }
  b.next_round(after);
  const Rank place = folding.place_of(r);
  for (int k = levels - 1; k >= 0; --k) {
    const Rank other = place ^ (Rank{1} << k);
    const Rank begin = (place >> (k + 1)) << (k + 1);  // the group of places that hold the same blocks
    const Rank low_blocks = folding.ranks_below(begin + (Rank{1} << k)) - folding.ranks_below(begin);
    const Region low = b.part(held, 0, low_blocks);
    const Region high = b.part(held, low_blocks, held.count() - low_blocks);
    const Region& kept = other > place ? low : high;
    const Region arrived = b.region(b.scratch_like(kept));
    b.sendrecv(folding.rank_at(other), other > place ? high : low, folding.rank_at(other), arrived);
    const Region next = k == 0 ? b.output() + partners_result : arrived;
    other > place ? b.reduce(next, kept, arrived) : b.reduce(next, arrived, kept);
    held = next;
    b.next_round();
  }
  if (folding.paired(r)) b.send(folding.partner(r), partners_result);
  b.next_round(after);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const patterns::Folding folding(p);
  const std::int64_t levels = folding.levels();
  if (levels == 0) return {.copied = 1};
  if (folding.pairs() == 0) return {.rounds = levels, .sent = p - 1, .received = p - 1, .reduced = p - 1};
  std::int64_t most = p;
  for (Rank half = folding.places() / 2; half > 0; half /= 2) most += half + std::min(half, folding.pairs());
  return {.rounds = levels + 2, .sent = p, .received = most, .reduced = most};
}

/// In the first and the last round pairs hand over a vector and get a block.
CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  const patterns::Folding folding(p);
  CriticalPath path{.blocks = p, .combined = cost(shape).reduced};
  path.volume = path.combined;
  if (folding.pairs() == 0) return path;
  path.one_way = 2;
  path.volume -= p;
  path.one_way_volume = p + 1;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, recursive_halving) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "halving ranges at halving distances; short and medium vectors",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when = "never by cost: no better than circulant_optimal for powers of two, two more rounds and more volume else",
      .peers = {openmpi("recursive_halving"), mpich("recursive_halving"),
                ucc("knomial (radix 2)", {Collective::reduce_scatter_block})},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .formula = {.rounds = "L + 2[r>0]",
                  .sent = "p-1+[r>0]",
                  .reduced = "volume + p[r>0]",
                  .two_way = "L",
                  .one_way = "2[r>0]",
                  .volume = "P-1 + sum(i, 0, L-1, min(2^i, r))",
                  .one_way_volume = "(p+1)[r>0]"},
      .cost = cost,
      .path = path,
      .levels = patterns::folding_levels,
      .build = build,
  };
}
