// allgather(v)/circulant_pipelined: p broadcasts of n blocks at once, one message each way per round.
//
// Idea      Every rank is the root of a circulant broadcast of its n blocks. All broadcasts use the same edge in the
//           same round, so their blocks share one message. A rank never gets a block twice, and what is sent per round
//           stays near sum m_j / n even if one rank has nearly all the data.
// Shape     any p; user blocks of any sizes, each cut into n = segments.
// Cost      n - 1 + q rounds, q = ceil(log2 p). A rank sends and receives n (p - 1) blocks. The time is (n - 1 +
//           q)(alpha + beta sum m_j / n) for any distribution of sizes. Building takes O(p (q + n)).
// Scratch   none in the schedule; messages are lists of blocks, which the executor packs.
// Order     no operator.
// Source    J. L. Traff, arXiv 2407.18004, section on all-to-all broadcast.
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/broadcast_rounds.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

constexpr ParamDeclaration segments = patterns::segments_of("blocks that every rank's contribution is cut into");

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  const Rank r = b.rank();
  const patterns::Skips skips(p);
  // Blocks that each rank sends, by rank relative to the root. A rank receives the blocks that the rank before it on
  // the edge sends. Those are quicker to find.
  std::vector<patterns::RoundBlocks> sent;
  sent.reserve(static_cast<std::size_t>(p));
  for (Rank v = 0; v < p; ++v) sent.push_back(patterns::blocks_sent(v, skips));

  b.copy(b.output(r * n, n), b.input());
  patterns::each_broadcast_round(n, skips.q(), [&](int k, std::int64_t shift) {
    // The blocks that rank `at` receives in this round, root by root from the next rank on. The sender lists the same.
    const auto blocks_for = [&](Rank at) {
      Region region;
      for (Rank i = 1; i < p; ++i) {
        const Rank root = (at + i) % p;
        const Rank sender = at - skips[k] - root;  // > -2p
        const auto v = static_cast<std::size_t>(sender >= 0 ? sender : sender + p >= 0 ? sender + p : sender + 2 * p);
        const std::int64_t block = sent[v][static_cast<std::size_t>(k)] + shift;
        if (block >= 0) region.append(Range{recv_buffer, root * n + std::min(block, n - 1), 1});
      }
      return region;
    };
    const Rank to = (r + skips[k]) % p;
    b.sendrecv(to, blocks_for(to), patterns::mod(r - skips[k], p), blocks_for(r));
    b.next_round();
  });
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  const Rank p = shape.size;
  const std::int64_t copied = shape.in_place ? 0 : n;
  if (p == 1) return {.copied = copied};
  return {.rounds = n - 1 + patterns::ceil_log2(p), .sent = n * (p - 1), .received = n * (p - 1), .copied = copied};
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, circulant_pipelined) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "p concurrent n-block broadcasts; for blocks of very uneven sizes",
      .source = "Traff, arXiv 2407.18004",
      .family = Family::circulant,
      .when = "allgatherv with blocks of very uneven sizes; one block in all is a pipelined broadcast",
      .rotation = Rotation::ranks,
      .formula = {.rounds = "n-1+ceil(log2 p)", .sent = "n(p-1)", .reduced = "0"},
      .params = {segments},
      .cost = cost,
      .build = build,
  };
}
