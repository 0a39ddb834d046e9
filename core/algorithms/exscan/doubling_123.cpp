// exscan/doubling_123: distances 1, 2, 3, 6, 12, ...; fewer rounds than doubling, one combination in each.
//
// Idea      With W the contributions of the ranks that this one has heard of, all directly before it: round 0 sends the
//           own contribution V to r + 1, so W = V of r - 1. Round 1 sends W op V to r + 2: W then covers three ranks.
//           After that round k sends W to r + s, s = 3, 6, 12, ... < p - 1, which doubles what is covered.
// Shape     any p; one block.
// Cost      1 for p = 2; else 2 + ceil(log2((p - 1) / 3)) = ceil(log2(p - 1) + log2(4/3)) rounds and blocks sent; one
//           combined per round but the first, by the last rank; ranks 1 .. p-3 one more to send in round 1.
// Scratch   up to five blocks.
// Order     rank order: any associative operator.
// Source    Traff: the 123-doubling exclusive scan. Differs: ranks send only what somebody receives.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return;
  const Region scratch = r > 0 ? b.region(b.scratch_like(b.input())) : Region{};
  // Round 0. In place the own contribution still leaves from where the result belongs.
  const bool occupied = b.shape().in_place && r < p - 1;
  Region covered = r == 0 ? Region{} : occupied ? scratch : b.output();
  if (r < p - 1) b.send(r + 1, b.input());
  if (r > 0) b.recv(r - 1, covered);
  b.next_round();
  patterns::Arrivals arrivals(b, b.input());
  const auto add = [&](Rank from) {
    Region arrived = arrivals.next();
    b.recv(from, arrived);
    return arrived;
  };
  if (p > 2) {
    if (r + 2 < p) {
      Region sum = b.input();
      if (r > 0) {
        sum = b.region(b.scratch_like(b.input()));
        b.reduce(sum, covered, b.input());
      }
      b.send(r + 2, sum);
    }
    if (r >= 2) {
      b.reduce(b.output(), add(r - 2), covered);
      covered = b.output();
    }
    b.next_round();
  }
  for (Rank skip = 3; skip < p - 1; skip *= 2) {
    if (r > 0 && r + skip < p) b.send(r + skip, covered);
    if (r - skip > 0) b.reduce(b.output(), add(r - skip), covered);
    b.next_round();
  }
  if (r > 0) b.copy(b.output(), covered);
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  if (p == 1) return {};
  std::int64_t doubling = 0;        // rounds after the second
  std::int64_t doubling_there = 0;  // of those, the ones in which rank p - 3 receives
  for (Rank skip = 3; skip < p - 1; skip *= 2) {
    ++doubling;
    if (p - 3 - skip > 0) ++doubling_there;
  }
  const std::int64_t second = p > 2 ? 1 : 0;
  const std::int64_t rounds = 1 + second + doubling;
  const std::int64_t sender = p > 3 ? 1 + (p >= 5 ? 1 : 0) + doubling_there : 0;
  return {.rounds = rounds,
          .sent = rounds,
          .received = rounds,
          .reduced = std::max(second + doubling, sender),
          .copied = shape.in_place && p > 2 ? 1 : 0};
}

/// In the last round the ranks that receive are others than those that send. In round 1 inner ranks combine twice: for
/// the result, and to send.
CriticalPath path(const Shape& shape) {
  const std::int64_t rounds = cost(shape).rounds;
  if (rounds == 0) return {};
  CriticalPath path = patterns::pipelined_path(1, rounds, 1);
  path.combined = shape.size > 4 ? rounds : rounds - 1;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(exscan, doubling_123) {
  return {
      .summary = "distances 1, 2, 3, 6, 12, ...: fewest rounds, one combination in each",
      .source = "Traff: 123-doubling",
      .family = Family::dissemination,
      .when =
          "below the sizes of pipeline, p - 1 at most 3/4 of the next power of two (but p = 3, 5): no more rounds than "
          "doubling",
      .guarantees = {.rank_order = true},
      .formula = {.rounds = "1 + [p>2](1 + ceil(log2((p-1)/3)))",
                  .sent = "rounds",
                  .reduced = "<= rounds",
                  .two_way = "rounds - 1",
                  .one_way = "1",
                  .volume = "rounds-1",
                  .one_way_volume = "1",
                  .combined = "rounds - [p<5]"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
