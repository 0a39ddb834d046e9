// allreduce/binary_blocks: vector halving in blocks of powers of two, joined from the smallest block on, and
// back.
//
// Idea      p is a sum of powers of two 2^e_0 > 2^e_1 > ...; so many ranks make a block. All blocks halve the
//           vector at the same time (distances 1, 2, 4, ...). Then the ranks of the smallest block divide
//           what they hold among ranks of the next larger one, which combine it with what they hold, and so
//           on. The largest block has the result, one block each; from there everything goes back the way it
//           came. For powers of two it is allreduce/rabenseifner.
// Shape     any p; p' = 2^floor(log2 p) blocks, empty ones included.
// Cost      R rounds to the sum and R back: a block of 2^b ranks gets from the next smaller one, of 2^a
//           ranks, in 2^(b-a) rounds, after its b exchanges and after the smaller one has been served. Less
//           than 2p' blocks are sent by a rank, and p' combined: no imbalance but for the waiting, which
//           grows with the largest gap of exponents.
// Scratch   p' blocks at most.
// Order     rank order: any associative operator; same bits on all ranks.
// Source    Rabenseifner, Traff: More Efficient Reduction Algorithms for Non-Power-of-Two Number of
//           Processors, 2004. Differs: commutative operators are asked for there; blocks are runs of ranks,
//           so the order is kept.
#include "patterns/binary_blocks.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::BinaryBlocks blocks(b.size());
  b.cut(blocks.size(0));
  if (b.size() == 1) return b.copy(b.output(), b.input());
  patterns::Butterfly butterfly = patterns::butterfly_in(blocks, b.rank());
  butterfly.blocks_before = [](std::int64_t segment) { return segment; };
  butterfly.home = [&](std::int64_t first, std::int64_t count) { return b.output(first, count); };
  const Region held = patterns::reduce_in_blocks(b, blocks, butterfly, b.input());
  patterns::spread_in_blocks(b, blocks, butterfly, held);
}

Cost cost(const Shape& shape) {
  const patterns::BinaryBlocks blocks(shape.size);
  const std::int64_t n = blocks.size(0);
  Cost most{.copied = patterns::lonely_copy(shape)};
  for (int i = 0; i < blocks.count(); ++i) {
    const std::int64_t held = n >> blocks.exponent(i);
    const std::int64_t larger = i > 0 ? held : 0;                    // goes to the larger block and comes back
    const std::int64_t smaller = i + 1 < blocks.count() ? held : 0;  // comes from the smaller block and goes back
    const std::int64_t both = 2 * (n - held) + larger + smaller;
    most = patterns::most(most, {.sent = both, .received = both, .reduced = n - held + smaller});
  }
  most.rounds = 2 * blocks.rounds();
  return most;
}

/// The way back takes the same rounds and messages.
CriticalPath path(const Shape& shape) {
  CriticalPath path = patterns::path_to_sum(patterns::BinaryBlocks(shape.size), 0);
  path.one_way *= 2;
  path.volume *= 2;
  path.one_way_volume *= 2;
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(allreduce, binary_blocks) {
  return {
      .summary = "recursive halving and doubling in blocks of powers of two; long vectors, any p",
      .source = "Rabenseifner, Traff 2004",
      .family = Family::recursive_doubling,
      .when = "operators that do not commute: from a few KiB on for powers of two, from about 256 KiB on for large p",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "counted; 2L for p = P",
                  .sent = "<= 2P",
                  .reduced = "<= P",
                  .blocks = "P",
                  .two_way = "rounds - one_way",
                  .one_way = "counted; 0 for p = P",
                  .volume = "counted; 2(p-1) for p = P",
                  .one_way_volume = "counted; 0 for p = P",
                  .combined = "counted; p-1 for p = P"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
