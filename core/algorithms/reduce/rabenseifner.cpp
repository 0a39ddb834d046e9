// reduce/rabenseifner: reduce_scatter by vector halving and distance doubling, then a binomial gather to the
// root.
//
// Idea      The first half is that of allreduce/rabenseifner: p' = 2^floor(log2 p) blocks; pairs of
//           neighbours combine halves of the vector first, if p > p', and one of each pair is removed. Then
//           the blocks go back towards the root along the same exchanges, in opposite order. In the root's
//           pair the other rank is removed: changing roles costs nothing.
// Shape     any p, any root; p' blocks, empty ones included (fewer elements than p').
// Cost      L = log2 p': 2L rounds, and 2 more unless p = p'. p = p': 3p'/2 - 1 blocks sent by the last
//           sender, 2(p'-1) received by the root, p' - 1 combined. Else up to 2p' - 1, 3p' - 2 and 3p'/2 - 1.
// Scratch   3p'/2 blocks at most, and half as many for pairs.
// Order     rank order: any associative operator.
// Source    Rabenseifner: Optimization of Collective Reduction Operations, 2004. Differs: as
//           allreduce/rabenseifner, no need of a commutative operator.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Folding folding(b.size(), b.root());
  const Rank r = b.rank();
  const Rank n = folding.places();
  const std::uint32_t levels = static_cast<std::uint32_t>(folding.levels());
  b.cut(n);
  if (levels == 0) return b.copy(b.output(), b.input());
  const Slot half = n / 2;
  const Rank place = folding.place_of(r);

  Region held = b.input();
  if (folding.pairs() > 0 && !folding.paired(r)) b.next_round(2);
  if (folding.paired(r)) {
    // The even rank of a pair combines the first half of the vector, the odd one the second half.
    const Rank partner = folding.partner(r);
    const bool even = partner > r;
    const Region kept = b.part(held, even ? 0 : half, half);
    const Region arrived = b.region(b.scratch(half, even ? 0 : half));
    b.sendrecv(partner, b.part(held, even ? half : 0, half), partner, arrived);
    b.next_round();
    even ? b.reduce(arrived, kept, arrived) : b.reduce(arrived, arrived, kept);
    if (folding.removed(r)) {
      b.send(partner, arrived);
      return b.next_round(1 + 2 * levels);
    }
    const Region other_half = b.region(b.scratch(half, even ? half : 0));
    b.recv(partner, other_half);
    b.next_round();
    held = even ? arrived + other_half : other_half + arrived;
  }
  // All but the root keep the half that they get in the first exchange at most.
  const std::int64_t first_kept = patterns::halved_first(place, 1, n);
  const Region kept = r == b.root() ? b.output() : b.region(b.scratch(half, first_kept));
  const patterns::Butterfly butterfly{
      .place = place,
      .levels = folding.levels(),
      .segments = n,
      .rank_at = [&](Rank at) { return folding.rank_at(at); },
      .blocks_before = [](std::int64_t segment) { return segment; },
      .home = [&](std::int64_t first,
                  std::int64_t count) { return b.part(kept, r == b.root() ? first : first - first_kept, count); }};
  held = patterns::halve(b, butterfly, held);
  (void)patterns::collect(b, butterfly, held, folding.place_of(b.root()));
}

Cost cost(const Shape& shape) {
  const patterns::Folding folding(shape.size, shape.root);
  const Rank n = folding.places();
  const int levels = folding.levels();
  const bool folds = folding.pairs() > 0;
  if (levels == 0) return {.copied = patterns::lonely_copy(shape)};
  const Rank root = folding.place_of(shape.root);
  const auto fold = [&](Rank place) { return place < folding.pairs(); };
  Cost most{.sent = (fold(root) ? n / 2 : 0) + n - 1, .received = (fold(root) ? n : 0) + 2 * (n - 1)};
  for (int k = 0; k < levels; ++k) {
    // Those that send n / 2^(k+1) blocks in the gather; the first of them is in a pair if any is.
    const Rank first = ((root >> k) ^ 1) << k;
    const std::int64_t blocks = n >> (k + 1);
    most = patterns::most(most, {.sent = (fold(first) ? n / 2 : 0) + n - 1 + blocks,
                                 .received = (fold(first) ? n : 0) + n - 1 + blocks - 1});
  }
  return {.rounds = 2 * levels + (folds ? 2 : 0),
          .sent = most.sent,
          .received = most.received,
          .reduced = n - 1 + (folds ? n / 2 : 0)};
}

/// Pairs exchange halves, then hand over a half; the gather goes one way too.
CriticalPath path(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const Rank n = folding.places();
  const bool folds = folding.pairs() > 0;
  const std::int64_t half = folds ? n / 2 : 0;
  return {.blocks = n,
          .one_way = folding.levels() + (folds ? 1 : 0),
          .volume = n - 1 + half,
          .one_way_volume = n - 1 + half,
          .combined = n - 1 + half};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, rabenseifner) {
  return {
      .summary = "recursive halving, then binomial gather; long vectors",
      .source = "Rabenseifner 2004",
      .family = Family::recursive_doubling,
      .when =
          "operators that do not commute, 16 to 256 KiB, p not a power of two. Measured at 100 Mbit/s, 8 hosts: 1.4 to "
          "11 KiB",
      .peers = {openmpi("rabenseifner"), mpich("reduce_scatter_gather"), ucc("srg_knomial (radix 2)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2L + 2[r>0]",
                  .sent = "<= 3/2 P - 1 + P/2 [r>0]",
                  .reduced = "P-1 + P/2 [r>0]",
                  .blocks = "P",
                  .two_way = "L + [r>0]",
                  .one_way = "L + [r>0]",
                  .volume = "P-1 + P/2 [r>0]",
                  .one_way_volume = "P-1 + P/2 [r>0]"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
