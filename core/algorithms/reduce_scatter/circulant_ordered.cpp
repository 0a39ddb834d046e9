// reduce_scatter(_block)/circulant_ordered: the paper's pattern for operators that do not commute.
//
// Idea      The pattern combines the contributions of consecutive ranks r, r + 1, ... modulo p. Kept as two parts, up
//           to rank p - 1 (tail) and from rank 0 on (head), they can be extended in order without combining across the
//           wrap; at the end head op tail is the result in rank order. Ranks whose range has wrapped send both.
// Shape     any p; p blocks of any sizes.
// Cost      q = ceil(log2 p) rounds, as reduce_scatter/circulant; 2^q - 1 blocks sent, plus the heads: 3 % more in the
//           mean over ranks, 50 % at worst for p < 130; at most p combined. The exact numbers depend on where each
//           rank's ranges wrap; cost() counts them from the positions of the ranges in O(q^3).
// Scratch   four times that of reduce_scatter/circulant at most.
// Order     rank order: any associative operator.
// Source    Traff et al., Uniform Algorithms, III-D, Listing 6, with wrap-aware pairs.
#include <algorithm>
#include <vector>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;

/// Partial results for several blocks over the same cyclic range of ranks, begin .. begin + ranks - 1.
struct Partials {
  Rank begin = 0;
  Rank ranks = 0;
  Region tail{};  // ranks up to p - 1
  Region head{};  // ranks from 0 on; empty unless the range wraps
};

bool wraps(Rank begin, Rank ranks, Rank p) { return begin + ranks > p; }

/// Writes x op y, x right before y, to fresh places. Where nothing is combined it leaves the parts where they are.
/// `place` makes a region for the blocks of one part.
template <typename PlaceOf>
Partials extend(Builder& b, const Partials& x, const Partials& y, const PlaceOf& place) {
  Partials sum{x.begin, x.ranks + y.ranks, x.tail, x.head};
  if (wraps(x.begin, x.ranks, b.size())) {
    sum.head = place();
    b.reduce(sum.head, x.head, y.tail);
  } else if (x.begin + x.ranks == b.size()) {
    sum.head = y.tail;
  } else {
    sum.tail = place();
    b.reduce(sum.tail, x.tail, y.tail);
    sum.head = y.head;
  }
  return sum;
}

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
  const auto scratch_for = [&](Rank rank, std::size_t first, std::size_t count) {
    std::vector<Block> blocks;
    blocks.reserve(count);
    for (std::size_t j = first; j < first + count; ++j) blocks.push_back(patterns::mod(rank - distance[j], p));
    return b.region(b.scratch(std::move(blocks)));
  };

  const std::size_t first_count = std::size_t{1} << (q - 1);
  const Region arrived = scratch_for(r + 1, 0, first_count);
  b.sendrecv(patterns::mod(r - 1, p), own(0, first_count), (r + 1) % p, arrived);
  const Rank next = (r + 1) % p;
  const auto one_block = [&] { return b.region(b.scratch(1, r)); };
  Partials result = extend(b, {r, 1, b.input(r, 1)}, {next, 1, b.part(arrived, 0, 1)}, one_block);
  b.next_round();

  std::vector<Partials> segments(1);  // segments[k] is sent in round k
  std::vector<std::size_t> offsets(1, 0);
  std::size_t offset = 0;
  for (int k = 1; k < q; ++k) {
    const std::size_t count = std::size_t{1} << (q - 1 - k);
    const Partials received{next, 1, b.part(arrived, static_cast<Slot>(offset) + 1, static_cast<Slot>(count))};
    const auto place = [&] { return scratch_for(r, first_count + offset, count); };
    segments.push_back(skips.odd(k) ? received : extend(b, {r, 1, own(first_count + offset, count)}, received, place));
    offsets.push_back(offset);
    offset += count;
  }
  for (int k = 1; k < q; ++k) {
    const Partials& sent = segments[static_cast<std::size_t>(k)];
    const std::size_t first = first_count + offsets[static_cast<std::size_t>(k)];
    const std::size_t count = std::size_t{1} << (q - 1 - k);
    const Rank from = (r + skips.jump(k)) % p;
    // The sender's range lies as far from it as this rank's from here, and wraps or not by itself.
    const Rank begin = (from + patterns::mod(sent.begin - r, p)) % p;
    Partials in{begin, sent.ranks, scratch_for(from, first, count), {}};
    if (wraps(begin, sent.ranks, p)) in.head = scratch_for(from, first, count);
    b.sendrecv(patterns::mod(r - skips.jump(k), p), sent.tail + sent.head, from, in.tail + in.head);

    const auto cut = [&](std::size_t at, std::size_t length) {
      Partials part{in.begin, in.ranks, b.part(in.tail, static_cast<Slot>(at), static_cast<Slot>(length)), {}};
      if (!in.head.empty()) part.head = b.part(in.head, static_cast<Slot>(at), static_cast<Slot>(length));
      return part;
    };
    result = extend(b, result, cut(0, 1), one_block);
    std::size_t taken = 1;
    for (int later = k + 1; later < q; ++later) {
      const std::size_t length = std::size_t{1} << (q - 1 - later);
      const auto place = [&] { return scratch_for(r, first_count + offsets[static_cast<std::size_t>(later)], length); };
      Partials& segment = segments[static_cast<std::size_t>(later)];
      segment = extend(b, segment, cut(taken, length), place);
      taken += length;
    }
    b.next_round();
  }
  if (result.head.empty()) {
    b.copy(b.output(), result.tail);
  } else {
    b.reduce(b.output(), result.head, result.tail);
  }
}

/// Counts what build() writes for one rank: only the positions of ranges decide, so no block is listed.
Cost cost_of(Rank r, const patterns::Skips& skips) {
  const Rank p = skips[skips.q()];
  const int q = skips.q();
  Cost cost{.rounds = q};
  struct Span {
    Rank ahead;  // begin of the range, relative to the rank
    Rank ranks;
  };
  const auto begin_at = [&](Rank rank, const Span& s) { return (rank + s.ahead) % p; };
  const auto extends = [&](Span& s, Rank ranks, std::int64_t blocks) {
    if (begin_at(r, s) + s.ranks != p) cost.reduced += blocks;
    s.ranks += ranks;
  };
  const std::int64_t first_count = std::int64_t{1} << (q - 1);
  cost.sent = cost.received = first_count;
  Span result{0, 1};
  extends(result, 1, 1);
  std::vector<Span> segments(1);
  for (int k = 1; k < q; ++k) {
    Span segment{skips.odd(k) ? 1 : 0, 1};
    if (!skips.odd(k)) extends(segment, 1, std::int64_t{1} << (q - 1 - k));
    segments.push_back(segment);
  }
  for (int k = 1; k < q; ++k) {
    const Span sent = segments[static_cast<std::size_t>(k)];
    const std::int64_t count = std::int64_t{1} << (q - 1 - k);
    cost.sent += count * (wraps(begin_at(r, sent), sent.ranks, p) ? 2 : 1);
    cost.received += count * (wraps(begin_at((r + skips.jump(k)) % p, sent), sent.ranks, p) ? 2 : 1);
    extends(result, sent.ranks, 1);
    for (int later = k + 1; later < q; ++later) {
      extends(segments[static_cast<std::size_t>(later)], sent.ranks, std::int64_t{1} << (q - 1 - later));
    }
  }
  wraps(begin_at(r, result), result.ranks, p) ? ++cost.reduced : ++cost.copied;
  return cost;
}

/// Ranks at which a count can change. There a range of this rank, or of the one that it receives from, begins to wrap,
/// ends at rank p - 1, or begins at rank 0. Ranges begin at the rank or after it, and have skips[k] ranks or one less.
/// Between two neighbours of the list all ranks cost the same.
std::vector<Rank> turning_points(const patterns::Skips& skips) {
  const Rank p = skips[skips.q()];
  std::vector<Rank> ranks{0};
  for (int k = 0; k < skips.q(); ++k) {
    for (const Rank shift : {Rank{0}, skips.jump(k)}) {
      for (Rank begin = 0; begin <= 1; ++begin) {
        ranks.push_back(patterns::mod(-shift - begin, p));
        for (const Rank length : {skips[k], skips[k] - 1, Rank{1}, Rank{2}}) {
          for (const Rank past : {0, 1}) ranks.push_back(patterns::mod(p - shift - begin - length + past, p));
        }
      }
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// O(q^3): the maximum over all ranks is one over the turning points.
Cost cost(const Shape& shape) {
  if (shape.size == 1) return {.copied = 1};
  const patterns::Skips skips(shape.size);
  Cost most;
  for (const Rank r : turning_points(skips)) {
    most = patterns::most(most, cost_of(r, skips));
  }
  return most;
}

/// O(log p). In every round some rank's range wraps: messages are twice as long, but those of round 0 and, if skips[2]
/// is odd, of round 1, which carry single contributions. Some rank extends all its ranges in every round, and some rank
/// joins head and tail at the end.
CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  if (p == 1) return {};
  const patterns::Skips skips(p);
  const std::int64_t half = std::int64_t{1} << (skips.q() - 1);
  return {.blocks = p, .volume = 3 * half - 2 - (skips.q() > 1 && skips.odd(1) ? half / 2 : 0), .combined = p};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, circulant_ordered) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "any operator: the paper's reduce_scatter with sums kept apart at the wrap",
      .source = "Traff et al., Uniform Algorithms, III-D, with wrap-aware pairs",
      .family = Family::circulant,
      .when = "operators that do not commute, p not a power of two: up to 8 KiB (p = 5 to 12) or 32 KiB (p = 36, 100)",
      .guarantees = {.same_bits = true, .rank_order = true},
      .formula = {.rounds = "ceil(log2 p)",
                  .sent = "<= volume",
                  .reduced = "<= p",
                  .volume = "3/2 2^q - 2 - [q>1][ceil(4p/2^q) = 3] 2^(q-2)",
                  .combined = "p"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
