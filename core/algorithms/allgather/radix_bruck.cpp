// allgather(v)/radix_bruck: every rank has `radix` times as many blocks after each level.
//
// Idea      After a level rank r has the blocks r .. r + radix u - 1 modulo p, u of which it had before. It sends the u
//           blocks to r - d u, and receives as many from r + d u, for 0 < d < radix. Radix 2 is bruck.
// Shape     any p; p blocks of any sizes.
// Cost      the sum over levels of min(radix, ceil(p / u)) - 1 rounds; p - 1 blocks sent and received per rank, which
//           is optimal. One block copied.
// Scratch   none.
// Order     no operator.
// Source    Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications, 1997, for
//           several ports; MPICH's k_brucks; tunable radix. Differs: as bruck.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/trees.hpp"

namespace {

using namespace circoll;
using patterns::radix;

void build(Builder& b) {
  const std::int64_t k = b.param(radix.name, radix.fallback);
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  for (Rank unit = 1; unit < p; unit *= k) {
    for (Rank distance = unit; distance < unit * k && distance < p; distance += unit) {
      const Rank blocks = std::min(unit, p - distance);
      // The first messages do not wait for the local copy.
      const Region out = unit == 1 ? b.input() : b.output(r, blocks);
      b.sendrecv(patterns::mod(r - distance, p), out, (r + distance) % p, b.output((r + distance) % p, blocks));
      b.next_round();
    }
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::KnomialTree(p, patterns::value_of(shape, radix)).rounds(),
          .sent = p - 1,
          .received = p - 1,
          .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, radix_bruck) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "cyclic ranges that grow by a factor, several messages on each level; short blocks",
      .source = "Bruck et al. 1997",
      .family = Family::dissemination,
      .when = "never by cost: a round for every message; short blocks where those of a level overlap",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "sum(i, 0, q-1, min(radix, ceil(p/radix^i)) - 1)", .sent = "p-1", .reduced = "0"},
      .params = {radix},
      .cost = cost,
      .build = build,
  };
}
