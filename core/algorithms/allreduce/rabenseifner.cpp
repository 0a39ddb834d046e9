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
//           With halves=2 the first exchange carries the whole vector, p'/2 blocks more: the partner has a copy
//           of all that a rank contributes, and one failure loses nothing from then on (`circoll faults`).
// Scratch   p' blocks at most, and half as many for pairs; p'/2 more with halves=2.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Rabenseifner: Optimization of Collective Reduction Operations, 2004; Open MPI, libnbc. Differs:
//           their descriptions ask for commutative operators and at least p' elements. Groups of places are
//           runs of ranks, and dst = left op right keeps their order; blocks may be empty.
#include "circoll/algorithm.hpp"
#include "patterns/butterfly.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration halves{.name = "halves",
                                  .minimum = 1,
                                  .maximum = 2,
                                  .fallback = 1,
                                  .summary =
                                      "halves of the vector in the first exchange; 2: no single failure loses "
                                      "anything from then on"};

/// Blocks of the first exchange beyond half the vector.
std::int64_t insurance(const Shape& shape, Rank blocks) {
  const auto given = shape.params.find(halves.name);
  return given == shape.params.end() ? 0 : (given->second - 1) * (blocks / 2);
}

void build(Builder& b) {
  const patterns::Folding folding(b.size());
  const Rank r = b.rank();
  const Rank n = folding.places();
  const std::uint32_t levels = static_cast<std::uint32_t>(folding.levels());
  b.cut(n);
  if (levels == 0) return b.copy(b.output(), b.input());
  const patterns::Butterfly butterfly{
      .place = folding.place_of(r),
      .levels = folding.levels(),
      .segments = n,
      .rank_at = [&](Rank place) { return folding.rank_at(place); },
      .blocks_before = [](std::int64_t segment) { return segment; },
      .home = [&](std::int64_t first, std::int64_t count) { return b.output(first, count); },
      .whole_first = b.param(halves.name, halves.fallback) == 2};

  Region held = b.input();
  const Slot half = n / 2;
  if (folding.removed(r)) {
    const Rank partner = folding.partner(r);
    const Region arrived = b.region(b.scratch(half, half));
    b.sendrecv(partner, b.part(held, 0, half), partner, arrived);
    b.next_round();
    b.reduce(arrived, arrived, b.part(held, half, half));
    b.send(partner, arrived);
    b.next_round(1 + 2 * levels);
    b.recv(partner, b.output());
    return b.next_round();
  }
  if (folding.paired(r)) {
    const Rank partner = folding.partner(r);
    const Region arrived = b.region(b.scratch(half, 0));
    b.sendrecv(partner, b.part(held, half, half), partner, arrived);
    b.next_round();
    b.reduce(b.output(0, half), b.part(held, 0, half), arrived);
    b.recv(partner, b.output(half, half));
    b.next_round();
    held = b.output();
  } else if (folding.pairs() > 0) {
    b.next_round(2);
  }
  held = patterns::halve(b, butterfly, held);
  patterns::spread(b, butterfly, held);
  if (folding.paired(r)) b.send(folding.partner(r), b.output());
  b.next_round(folding.pairs() > 0 ? 1 : 0);
}

Cost cost(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const Rank n = folding.places();
  const std::int64_t levels = folding.levels();
  const std::int64_t more = insurance(shape, n);
  if (folding.pairs() == 0) {
    return {.rounds = 2 * levels,
            .sent = 2 * (n - 1) + more,
            .received = 2 * (n - 1) + more,
            .reduced = n - 1,
            .copied = patterns::lonely_copy(shape)};
  }
  return {.rounds = 2 * levels + 3,
          .sent = n / 2 + 2 * (n - 1) + n + more,
          .received = n / 2 + n / 2 + 2 * (n - 1) + more,
          .reduced = n / 2 + n - 1};
}

/// Pairs exchange halves, hand over a half, and send the whole result in the end. The last two go one way.
CriticalPath path(const Shape& shape) {
  const patterns::Folding folding(shape.size);
  const Rank n = folding.places();
  CriticalPath path{.blocks = n, .volume = 2 * (n - 1) + insurance(shape, n), .combined = n - 1};
  if (folding.pairs() == 0) return path;
  path.one_way = 2;
  path.volume += n / 2;
  path.one_way_volume = n / 2 + n;
  path.combined += n / 2;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, rabenseifner) {
  return {
      .summary = "recursive halving, then recursive doubling; long vectors",
      .source = "Rabenseifner 2004",
      .family = Family::recursive_doubling,
      .when = "operators that do not commute, 16 KiB or so, p not a power of two",
      .peers = {openmpi("rabenseifner"), mpich("reduce_scatter_allgather"), ucc("sra_knomial (radix 2)")},
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "2L + 3[r>0]",
                  .sent = "2(P-1) + 3/2 P[r>0] + P/2 (halves-1)",
                  .reduced = "P-1 + P/2 [r>0]",
                  .blocks = "P",
                  .two_way = "2L + [r>0]",
                  .one_way = "2[r>0]",
                  .volume = "2(P-1) + P/2 [r>0] + P/2 (halves-1)",
                  .one_way_volume = "3/2 P[r>0]"},
      .params = {halves},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
