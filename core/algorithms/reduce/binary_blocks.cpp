// reduce/binary_blocks: vector halving in blocks of powers of two, joined from the smallest block on, then a
// gather.
//
// Idea      The first half is that of allreduce/binary_blocks. Then the largest block has the result, one
//           block at each rank, and gathers it along a binomial tree. If the root is not in that block, the
//           last two halves go straight to it.
// Shape     any p, any root; p' = 2^floor(log2 p) blocks, empty ones included.
// Cost      L = log2 p': R rounds to the sum (see allreduce/binary_blocks) and L more, L + 1 if the root is
//           not in the largest block; 3p'/2 - 1 blocks sent at most.
// Scratch   3p'/2 blocks at most.
// Order     rank order: any associative operator.
// Source    Rabenseifner, Traff 2004. Differs: commutative operators are asked for there.
#include "patterns/binary_blocks.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::BinaryBlocks blocks(b.size());
  const std::int64_t n = blocks.size(0);
  b.cut(n);
  if (b.size() == 1) return b.copy(b.output(), b.input());
  const Rank r = b.rank();
  const bool at_root = r == b.root();
  patterns::Butterfly butterfly = patterns::butterfly_in(blocks, r);
  // All but the root keep the half that they get in the first exchange at most.
  const std::int64_t first_kept = at_root ? 0 : patterns::halved_first(butterfly.place, 1, n);
  Region kept;
  if (at_root) {
    kept = b.output();
  } else if (butterfly.levels > 0) {
    kept = b.region(b.scratch(n / 2, first_kept));
  }
  butterfly.blocks_before = [](std::int64_t segment) { return segment; };
  butterfly.home = [&](std::int64_t first, std::int64_t count) { return b.part(kept, first - first_kept, count); };
  Region held = patterns::reduce_in_blocks(b, blocks, butterfly, b.input());

  const bool inside = b.root() < n;
  const int last = inside ? 0 : 1;
  const Rank target = inside ? b.root() : 0;
  if (r < n) {
    held = patterns::collect(b, butterfly, held, target, last);
  } else {
    b.next_round(static_cast<std::uint32_t>(blocks.exponent(0) - last));
  }
  if (inside) return;
  for (Rank half = 0; half < 2; ++half) {
    if (r == half) b.send(b.root(), held);
    if (at_root) b.recv(half, b.output(half * (n / 2), n / 2));
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const patterns::BinaryBlocks blocks(shape.size);
  const std::int64_t n = blocks.size(0);
  if (n == 1) return {.copied = patterns::lonely_copy(shape)};
  const bool inside = shape.root < n;
  Cost most;
  for (int i = 0; i < blocks.count(); ++i) {
    const std::int64_t held = n >> blocks.exponent(i);
    const std::int64_t smaller = i + 1 < blocks.count() ? held : 0;
    Cost own{.sent = n, .received = n - held + smaller, .reduced = n - held + smaller};
    if (i == 0) {
      own.sent = n - held + n / 2;
      own.received += inside ? n - 1 : n / 2 - 1;
    } else if (blocks.block_of(shape.root) == i) {
      own.received += n;
    }
    most = patterns::most(most, own);
  }
  most.rounds = blocks.rounds() + blocks.exponent(0) + (inside ? 0 : 1);
  return most;
}

CriticalPath path(const Shape& shape) {
  const patterns::BinaryBlocks blocks(shape.size);
  const std::int64_t n = blocks.size(0);
  CriticalPath path = patterns::path_to_sum(blocks, 0);
  if (n == 1) return path;
  // The gather; to a root outside the largest block its last round is two, of half the vector each.
  const bool inside = shape.root < n;
  path.one_way += blocks.exponent(0) + (inside ? 0 : 1);
  path.one_way_volume += n - 1 + (inside ? 0 : n / 2);
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(reduce, binary_blocks) {
  return {
      .summary = "recursive halving in blocks of powers of two, then binomial gather; long vectors, any p",
      .source = "Rabenseifner, Traff 2004",
      .family = Family::recursive_doubling,
      .when = "operators that do not commute: from 16 KiB on for powers of two, from 256 KiB on for p >= 36",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "counted; 2L for p = P",
                  .sent = "<= 3/2 P - 1",
                  .reduced = "<= P",
                  .blocks = "P",
                  .two_way = "rounds - one_way",
                  .one_way = "counted; L for p = P",
                  .volume = "counted; p-1 for p = P",
                  .one_way_volume = "counted; p-1 for p = P",
                  .combined = "counted; p-1 for p = P"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
