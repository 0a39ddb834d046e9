#include "patterns/binary_blocks.hpp"

#include <algorithm>
#include <utility>

namespace circoll::patterns {
namespace {

void go_to(Builder& b, std::int64_t round) { b.next_round(static_cast<std::uint32_t>(round - b.round())); }

}  // namespace

BinaryBlocks::BinaryBlocks(Rank p) {
  Rank first = 0;
  for (int e = floor_log2(p); e >= 0; --e) {
    if (((p >> e) & 1) == 0) continue;
    exponents_.push_back(e);
    firsts_.push_back(first);
    first += Rank{1} << e;
  }
  starts_.assign(exponents_.size(), 0);
  std::int64_t ready = 0;
  for (int i = count() - 2; i >= 0; --i) {
    starts_[static_cast<std::size_t>(i)] = std::max<std::int64_t>(exponent(i), ready);
    ready = start(i) + (size(i) >> exponent(i + 1));
  }
}

int BinaryBlocks::block_of(Rank rank) const {
  int block = 0;
  while (rank >= first(block) + size(block)) ++block;
  return block;
}

std::int64_t BinaryBlocks::rounds() const { return count() == 1 ? exponent(0) : start(0) + (size(0) >> exponent(1)); }

Butterfly butterfly_in(const BinaryBlocks& blocks, Rank rank) {
  const int block = blocks.block_of(rank);
  const Rank first = blocks.first(block);
  return {.place = rank - first,
          .levels = blocks.exponent(block),
          .segments = blocks.size(0),
          .rank_at = [first](Rank place) { return first + place; }};
}

Region reduce_in_blocks(Builder& b, const BinaryBlocks& blocks, const Butterfly& butterfly, Region held) {
  const std::int64_t base = b.round();
  const int block = blocks.block_of(b.rank());
  held = halve(b, butterfly, std::move(held));
  const std::int64_t first = halved_first(butterfly.place, butterfly.levels, butterfly.segments);
  if (block + 1 < blocks.count()) {
    const int smaller = blocks.exponent(block + 1);
    go_to(b, base + blocks.start(block) + (butterfly.place >> smaller));
    const Region arrived = b.region(b.scratch_like(held));
    b.recv(blocks.first(block + 1) + (butterfly.place & ((Rank{1} << smaller) - 1)), arrived);
    b.reduce(held, held, arrived);
    b.next_round();
  }
  if (block > 0) {
    const int larger = blocks.exponent(block - 1);
    go_to(b, base + blocks.start(block - 1));
    for (Rank place = butterfly.place; place < blocks.size(block - 1); place += blocks.size(block)) {
      b.send(blocks.first(block - 1) + place,
             butterfly.slice(b, held, first, halved_first(place, larger, butterfly.segments),
                             butterfly.segments >> larger));
      b.next_round();
    }
  }
  go_to(b, base + blocks.rounds());
  return held;
}

void spread_in_blocks(Builder& b, const BinaryBlocks& blocks, const Butterfly& butterfly, Region held) {
  const std::int64_t end = b.round() + blocks.rounds();
  const int block = blocks.block_of(b.rank());
  if (block > 0) {
    const int larger = blocks.exponent(block - 1);
    const Rank ranks = blocks.size(block - 1) >> butterfly.levels;
    go_to(b, end - blocks.start(block - 1) - ranks);
    for (Rank i = ranks - 1; i >= 0; --i) {
      const Rank place = butterfly.place + i * blocks.size(block);
      b.recv(blocks.first(block - 1) + place,
             butterfly.home(halved_first(place, larger, butterfly.segments), butterfly.segments >> larger));
      b.next_round();
    }
    held = butterfly.home(halved_first(butterfly.place, butterfly.levels, butterfly.segments),
                          butterfly.segments >> butterfly.levels);
  }
  if (block + 1 < blocks.count()) {
    const int smaller = blocks.exponent(block + 1);
    go_to(b, end - 1 - blocks.start(block) - (butterfly.place >> smaller));
    b.send(blocks.first(block + 1) + (butterfly.place & ((Rank{1} << smaller) - 1)), held);
    b.next_round();
  }
  go_to(b, end - butterfly.levels);
  spread(b, butterfly, held);
}

CriticalPath path_to_sum(const BinaryBlocks& blocks, Rank doubled) {
  const Rank n = blocks.size(0);
  const std::int64_t halvings = blocks.exponent(0);
  CriticalPath path{.blocks = n + doubled};
  // Where blocks join, messages are longer than those of larger blocks that still halve, and are as many combined. The
  // joins follow one another.
  std::vector<bool> joins(static_cast<std::size_t>(halvings), false);
  for (int i = 0; i + 1 < blocks.count(); ++i) {
    const std::int64_t rounds = blocks.size(i) >> blocks.exponent(i + 1);
    const std::int64_t shortest = n / blocks.size(i) + doubled / blocks.size(i);
    const std::int64_t longer = (doubled % blocks.size(i) + blocks.size(i + 1) - 1) / blocks.size(i + 1);
    const auto volume = [&](std::int64_t first, std::int64_t end) {
      return (end - first) * shortest + std::max<std::int64_t>(std::min(longer, end) - first, 0);
    };
    const std::int64_t both_ways = std::clamp<std::int64_t>(halvings - blocks.start(i), 0, rounds);
    for (std::int64_t j = 0; j < both_ways; ++j) joins[static_cast<std::size_t>(blocks.start(i) + j)] = true;
    path.volume += volume(0, both_ways);
    path.one_way += rounds - both_ways;
    path.one_way_volume += volume(both_ways, rounds);
  }
  for (std::int64_t k = 0; k < halvings; ++k) {
    const Rank stride = Rank{2} << k;
    if (!joins[static_cast<std::size_t>(k)]) path.volume += n / stride + (doubled + stride - 1) / stride;
  }
  path.combined = path.volume + path.one_way_volume;
  return path;
}

}  // namespace circoll::patterns
