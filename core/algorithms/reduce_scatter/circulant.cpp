// reduce_scatter(_block)/circulant: the paper's reduce_scatter.
//
// Idea      Round k carries 2^(q-1-k) blocks: that of the destination, and those that the destination must pass on.
//           Enumerated in the right order, the blocks that a rank sends after round 0 are those that it received in
//           round 0, less the first, so partial results are combined in place without any reordering.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds; 2^q - 1 blocks sent and received, p - 1 combined per rank.
// Scratch   2^(q-1) - 1 partial results, and arrival buffers of 2^(q-1), 2^(q-2) and 2^(q-3) blocks.
// Order     commutative operators.
// Source    Traff et al., Uniform Algorithms, III-D, Listings 5 and 6. Differs: round 0 sends straight from the send
//           buffer (a list of blocks, which the executor packs as the listing does), combinations read the send buffer
//           or the arrival buffer as third operand, so nothing is copied: where the listing copies (odd skips) the
//           partial result stays in the arrival buffer.
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

void build(Builder& b) {
  const patterns::Skips skips(b.size());
  const Rank p = b.size();
  const Rank r = b.rank();
  const int q = skips.q();
  if (q == 0) return b.copy(b.output(), b.input());

  const std::vector<Rank> distance = patterns::relative_blocks(skips);
  const auto own = [&](std::size_t first, std::size_t count) {
    Region region;
    for (std::size_t j = first; j < first + count; ++j) region.append(b.input(patterns::mod(r - distance[j], p), 1));
    return region;
  };
  const auto blocks_of = [&](Rank rank, std::size_t first, std::size_t count) {
    std::vector<Block> blocks;
    blocks.reserve(count);
    for (std::size_t j = first; j < first + count; ++j) blocks.push_back(patterns::mod(rank - distance[j], p));
    return blocks;
  };

  // Round 0: everything leaves from the send buffer. The message that arrives has this rank's block, then one segment
  // per later round. Such a segment has the blocks to be sent in that round.
  const std::size_t first_count = std::size_t{1} << (q - 1);
  const std::int32_t arrived = b.scratch(blocks_of(r + 1, 0, first_count));
  b.sendrecv(patterns::mod(r - 1, p), own(0, first_count), (r + 1) % p, b.region(arrived));
  b.reduce(b.output(), b.region(arrived, 0, 1), b.input(r, 1));
  b.next_round();
  if (q == 1) return;

  const std::int32_t partial = b.scratch(blocks_of(r, first_count, first_count - 1));
  struct Segment {
    Region home;     // in `partial`
    Region current;  // where the partial results are now
  };
  std::vector<Segment> segments(1);  // segments[k] is sent in round k
  std::size_t offset = 0;
  for (int k = 1; k < q; ++k) {
    const std::size_t count = std::size_t{1} << (q - 1 - k);
    const Region home = b.region(partial, static_cast<Slot>(offset), static_cast<Slot>(count));
    const Region received = b.region(arrived, static_cast<Slot>(offset) + 1, static_cast<Slot>(count));
    if (!skips.odd(k)) b.reduce(home, received, own(first_count + offset, count));
    segments.push_back({home, skips.odd(k) ? received : home});
    offset += count;
  }

  std::int32_t arrival[2] = {};
  std::size_t sent = 0;
  for (int k = 1; k < q; ++k) {
    const std::size_t count = std::size_t{1} << (q - 1 - k);
    const Rank jump = skips.jump(k);
    const Rank from = (r + jump) % p;
    std::int32_t& first_view = arrival[k % 2];
    std::vector<Block> blocks = blocks_of(from, first_count + sent, count);
    const std::int32_t in =
        k <= 2 ? (first_view = b.scratch(std::move(blocks))) : b.view(first_view, std::move(blocks));
    b.sendrecv(patterns::mod(r - jump, p), segments[static_cast<std::size_t>(k)].current, from, b.region(in));
    b.reduce(b.output(), b.region(in, 0, 1), b.output());
    Region homes;
    Region current;
    for (std::size_t later = static_cast<std::size_t>(k) + 1; later < segments.size(); ++later) {
      homes.append(segments[later].home);
      current.append(segments[later].current);
      segments[later].current = segments[later].home;
    }
    if (!homes.empty()) b.reduce(homes, b.region(in, 1, static_cast<Slot>(count) - 1), current);
    sent += count;
    b.next_round();
  }
}

Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  const int q = patterns::ceil_log2(p);
  const std::int64_t sent = (std::int64_t{1} << q) - 1;
  return {.rounds = q, .sent = sent, .received = sent, .reduced = p - 1, .copied = p == 1 ? 1 : 0};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, circulant) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "the paper's reduce_scatter: ceil(log2 p) rounds, 2^q-1 blocks",
      .source = "Traff et al., Uniform Algorithms, III-D, Listings 5 and 6",
      .family = Family::circulant,
      .when = "operators that commute, p a power of two: as fast as circulant_optimal, and first in order",
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "ceil(log2 p)", .sent = "2^q-1", .reduced = "p-1"},
      .cost = cost,
      .build = build,
  };
}
