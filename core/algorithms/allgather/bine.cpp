// allgather(v)/bine: neighbours in a ring exchange all that they have, at the distances 1, 1, 3, 5, 11, ...
//
// Idea      Before each round a rank has the blocks of an interval of ranks around it. Its partner has those of the
//           next one, after it or before it in turn. Even and odd ranks mirror one another. If p is no power of two,
//           intervals would overlap in the last round. Then the ends that touch are exchanged, and the rest stays.
// Shape     even p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; p - 1 blocks sent and received per rank: both are optimal. One block copied.
// Scratch   none.
// Order     no operator.
// Source    De Sensi et al., Bine Trees, SC 2025: butterfly of doubling distances, of blocks that lie together
//           (libbine's 2_blocks), for powers of two. Differs: any even p, with each message one cyclic range.
#include "patterns/bine.hpp"
#include <algorithm>
#include "circoll/algorithm.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;
using patterns::mod;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  // The blocks [first, end) relative to an even rank; an odd one has the mirror image.
  Rank first = 0;
  Rank end = 1;
  const auto interval = [&](Rank from, Rank count) {
    return b.output(mod(r % 2 == 0 ? r + from : r - (from + count - 1), p), count);
  };
  for (int t = 0; end - first < p; ++t) {
    const Rank distance = patterns::bine_distance(t);
    const Rank partner = patterns::bine_partner(r, t, p);
    const Rank count = std::min(end - first, p - (end - first));
    const Region out = distance > 0 ? interval(end - count, count) : interval(first, count);
    const Region in = distance > 0 ? interval(end, count) : interval(first - count, count);
    b.sendrecv(partner, t == 0 ? b.input() : out, partner, in);
    b.next_round();
    (distance > 0 ? end : first) += distance > 0 ? count : -count;
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  return {.rounds = patterns::ceil_log2(p), .sent = p - 1, .received = p - 1, .copied = shape.in_place ? 0 : 1};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, bine) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "exchanges of cyclic ranges with partners a third closer than in recursive doubling",
      .source = "De Sensi et al., Bine Trees, SC 2025",
      .family = Family::recursive_doubling,
      .when =
          "never by cost: no price for distance; as fast as circulant, distances a third shorter, but most blocks go "
          "far",
      .automatic = false,
      .needs = {.even_size = true},
      .formula = {.rounds = "q", .sent = "p-1", .reduced = "0"},
      .cost = cost,
      .levels = patterns::doubling_levels,
      .build = build,
  };
}
