// reduce_scatter(_block)/binary_blocks: halving in blocks of powers of two, joined from the smallest block
// on.
//
// Idea      As in allreduce/binary_blocks, the ranks of the largest block, 0 .. p' - 1, end with the result,
//           rank x with the blocks of the ranks x and x + p'; the latter it sends there. Halving by distance
//           doubling deals the blocks out in bit-reversed order, so messages are lists of blocks.
// Shape     any p; p blocks of any sizes.
// Cost      R rounds (see allreduce/binary_blocks), and 1 more unless p = p'; p blocks sent at most.
// Scratch   less than the vector and the messages.
// Order     rank order: any associative operator. A block is combined once.
// Source    Rabenseifner, Traff 2004, whose reduce_scatter it is; the last round is added.
#include <algorithm>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/binary_blocks.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

/// Number of blocks of the ranks that agree with `place` modulo `stride`, as the largest block of ranks owns them.
std::int64_t blocks_of(Rank place, Rank stride, Rank p, Rank power) {
  const auto below = [&](Rank end) { return end > place ? (end - place - 1) / stride + 1 : 0; };
  return below(power) + below(p - power);
}

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return b.copy(b.output(), b.input());
  const patterns::BinaryBlocks blocks(p);
  const Rank n = blocks.size(0);

  // Segment i has the blocks of rank x, the bits of i reversed, and of rank x + p'. All segments in order:
  std::vector<std::int64_t> before(static_cast<std::size_t>(n) + 1, 0);
  std::vector<Block> order;
  order.reserve(static_cast<std::size_t>(p));
  std::vector<Rank> reversed(static_cast<std::size_t>(n), 0);
  for (Rank i = 0; i < n; ++i) {
    const Rank x = i == 0 ? 0 : reversed[static_cast<std::size_t>(i / 2)] / 2 + (i % 2) * (n / 2);
    reversed[static_cast<std::size_t>(i)] = x;
    order.push_back(x);
    if (x + n < p) order.push_back(x + n);
    before[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(order.size());
  }
  Region own;
  for (const Block block : order) own.append(b.input(block, 1));

  patterns::Butterfly butterfly = patterns::butterfly_in(blocks, r);
  const Region partners_result = r + n < p ? b.region(b.scratch(1, r + n)) : Region{};
  butterfly.blocks_before = [&](std::int64_t segment) { return before[static_cast<std::size_t>(segment)]; };
  butterfly.home = [&](std::int64_t, std::int64_t count) {
    return r < n && count == 1 ? b.output() + partners_result : Region{};
  };
  (void)patterns::reduce_in_blocks(b, blocks, butterfly, own);
  if (p == n) return;
  if (r + n < p) b.send(r + n, partners_result);
  if (r >= n) b.recv(r - n, b.output());
  b.next_round();
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  if (p == 1) return {.copied = 1};
  const patterns::BinaryBlocks blocks(p);
  const Rank n = blocks.size(0);
  Cost most{.sent = p > n ? p : p - 1};
  for (int i = 0; i < blocks.count(); ++i) {
    // The first place of a block has the most blocks in every round.
    std::int64_t combined = 0;
    for (int k = 1; k <= blocks.exponent(i); ++k) combined += blocks_of(0, Rank{1} << k, p, n);
    if (i + 1 < blocks.count()) combined += blocks_of(0, blocks.size(i), p, n);
    most = patterns::most(most, {.received = combined + (i > 0 ? 1 : 0), .reduced = combined});
  }
  most.rounds = blocks.rounds() + (p > n ? 1 : 0);
  return most;
}

CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  const patterns::BinaryBlocks blocks(p);
  CriticalPath path = patterns::path_to_sum(blocks, p - blocks.size(0));
  if (p > blocks.size(0)) {
    ++path.one_way;
    ++path.one_way_volume;
  }
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, binary_blocks) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "recursive halving in blocks of powers of two; any operator, any p",
      .source = "Rabenseifner, Traff 2004",
      .family = Family::recursive_doubling,
      .when = "operators that do not commute: every size for powers of two, from 256 KiB on for p >= 36",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "counted; L for p = P",
                  .sent = "p-1+[r>0]",
                  .reduced = "<= 2p",
                  .two_way = "rounds - one_way",
                  .one_way = "counted; 0 for p = P",
                  .volume = "counted; p-1 for p = P",
                  .one_way_volume = "counted; 0 for p = P",
                  .combined = "counted; p-1 for p = P"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
