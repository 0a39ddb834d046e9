// allgather(v)/recursive_doubling: aligned groups of 1, 2, 4, ... ranks exchange all that they have.
//
// Idea      In step l rank r exchanges with r xor 2^l the blocks of their groups of 2^l ranks. Where p cuts off the
//           upper one of two groups, some ranks of the lower group have no partner. They get the missing blocks from
//           ranks that had a partner, down a tree of distances 2^(l-1), ..., 1, before the next step.
// Shape     any p; p blocks of any sizes.
// Cost      If p = 2^q: q rounds, and p - 1 blocks sent and received. Otherwise more rounds, but less than 2q, and up
//           to twice the volume sent, to pass on the missing blocks. A rank still receives p - 1 blocks. One block
//           copied.
// Scratch   none.
// Order     no operator.
// Source    Thakur, Rabenseifner, Gropp 2005, 4.1. Differs: ceil(log2 p) steps. With floor(log2 p) steps, as sometimes
//           printed, the ranks beyond the largest power of two would be left out. Rounds in which no block is missing
//           are left out.
#include <algorithm>

#include "circoll/algorithm.hpp"
#include "patterns/circulant.hpp"

namespace {

using namespace circoll;

/// Ranks of the group beside the last complete group of 2^l ranks, if p cuts that group off; else 0. They are
/// the ones that exchange in step l; others of the complete group miss blocks.
Rank cut_off(Rank p, int l) { return std::max<Rank>((p & ((Rank{2} << l) - 1)) - (Rank{1} << l), 0); }

/// Calls f(distance) for the distances over which blocks that are missing after step l are passed on.
template <typename F>
void each_distance(Rank p, int l, F&& f) {
  const Rank complete = cut_off(p, l);
  if (complete == 0) return;
  for (int k = l; k > 0 && complete < Rank{1} << k; --k) f(Rank{1} << (k - 1));
}

/// True if a rank has the blocks that are missing after step l. They have been passed on over larger distances.
bool has(Rank rank, Rank distance, Rank complete) { return (rank & (2 * distance - 1)) < complete; }

/// Is a rank in the complete group beside the one that is cut off.
bool concerned(Rank rank, Rank p, int l) {
  const Rank group = (p >> (l + 1)) << (l + 1);
  return rank >= group && rank < group + (Rank{1} << l);
}

void build(Builder& b) {
  const Rank p = b.size();
  const Rank r = b.rank();
  b.copy(b.output(r, 1), b.input());
  for (int l = 0; Rank{1} << l < p; ++l) {
    const Rank mask = Rank{1} << l;
    const auto group = [&](Rank member) {
      const Rank first = (member >> l) << l;
      return b.output(first, std::min(mask, p - first));
    };
    const Rank other = r ^ mask;
    if (other < p) b.sendrecv(other, l == 0 ? b.input() : group(r), other, group(other));
    b.next_round();
    const Rank complete = cut_off(p, l);
    each_distance(p, l, [&](Rank distance) {
      const Rank peer = r ^ distance;
      if (concerned(r, p, l) && has(r, distance, complete) != has(peer, distance, complete)) {
        const Region missing = group(r + mask - r % mask);
        has(r, distance, complete) ? b.send(peer, missing) : b.recv(peer, missing);
      }
      b.next_round();
    });
  }
}

/// O(p log^2 p) at worst: the maximum is over all ranks.
Cost cost(const Shape& shape) {
  const Rank p = shape.size;
  Cost cost{.received = p - 1, .copied = shape.in_place ? 0 : 1};
  for (int l = 0; Rank{1} << l < p; ++l) {
    ++cost.rounds;
    each_distance(p, l, [&](Rank) { ++cost.rounds; });
  }
  for (Rank r = 0; r < p; ++r) {
    std::int64_t sent = 0;
    for (int l = 0; Rank{1} << l < p; ++l) {
      const Rank mask = Rank{1} << l;
      if ((r ^ mask) < p) sent += std::min(mask, p - ((r >> l) << l));
      if (!concerned(r, p, l)) continue;
      const Rank complete = cut_off(p, l);
      each_distance(p, l, [&](Rank distance) {
        if (has(r, distance, complete) && !has(r ^ distance, distance, complete)) sent += complete;
      });
    }
    cost.sent = std::max(cost.sent, sent);
  }
  return cost;
}

/// O(log^2 p). In step l a complete group sends 2^l blocks.
CriticalPath path(const Shape& shape) {
  const Rank p = shape.size;
  CriticalPath path{.blocks = p};
  for (int l = 0; Rank{1} << l < p; ++l) {
    path.volume += Rank{1} << l;
    each_distance(p, l, [&](Rank) {
      ++path.one_way;
      path.one_way_volume += cut_off(p, l);
    });
  }
  return path;
}

}  // namespace

CIRCOLL_ALGORITHM(allgather, recursive_doubling) {
  return {
      .collectives = {Collective::allgather, Collective::allgatherv},
      .summary = "exchanges at doubling distances; missing blocks are passed on where p is not a power of two",
      .source = "Thakur, Rabenseifner, Gropp 2005",
      .family = Family::recursive_doubling,
      .when = "never by cost: no better than circulant_optimal for powers of two, more rounds and volume else",
      .peers = {openmpi("recursive_doubling", {Collective::allgather}), mpich("recursive_doubling"),
                ucc("knomial (radix 2)", {Collective::allgather})},
      .formula = {.rounds = "q + one_way",
                  .sent = "counted; p-1 for p = P",
                  .reduced = "0",
                  .two_way = "q",
                  .one_way = "sum(i, 1, q-1, [p mod 2^(i+1) > 2^i] (i - floor(log2 max(p mod 2^i, 1))))",
                  .volume = "2^q - 1",
                  .one_way_volume =
                      "sum(i, 1, q-1, [p mod 2^(i+1) > 2^i] (i - floor(log2 max(p mod 2^i, 1))) (p mod 2^i))"},
      .cost = cost,
      .path = path,
      .build = build,
  };
}
