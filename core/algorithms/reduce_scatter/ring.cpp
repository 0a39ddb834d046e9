// reduce_scatter(_block)/ring: every block goes once around the ring, and collects the contributions.
//
// Idea      In step k rank r sends the partial result of block r - 1 - k to r + 1. It combines the partial result of
//           block r - 2 - k, which comes from r - 1, with its own contribution. Block r is complete at rank r after p -
//           1 steps. Blocks may be cut into segments, which follow one another. While one segment travels, the one
//           before is combined.
// Shape     any p; p blocks of any sizes, each cut into n = segments.
// Cost      n (p - 1) rounds; n (p - 1) segments sent, received and combined per rank.
// Scratch   three segments, in turn.
// Order     the ranks in the order of the ring, beginning after the one that gets the block: commutative
//           operators. A block is combined once.
// Source    Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009;
//           segments as in Open MPI's segmented ring.
#include "circoll/algorithm.hpp"
#include "patterns/arrivals.hpp"
#include "patterns/circulant.hpp"
#include "patterns/costs.hpp"

namespace {

using namespace circoll;
using patterns::mod;

constexpr ParamDeclaration segments = patterns::segments_of("parts that every block is cut into");

void build(Builder& b) {
  const std::int64_t n = patterns::cut(b, segments);
  const Rank p = b.size();
  const Rank r = b.rank();
  if (p == 1) return b.copy(b.output(), b.input());
  std::vector<patterns::Arrivals> arrivals(static_cast<std::size_t>(n), patterns::Arrivals(b));
  std::vector<Region> sums(static_cast<std::size_t>(n));
  for (Rank k = 0; k < p - 1; ++k) {
    for (std::int64_t s = 0; s < n; ++s) {
      Region& sum = sums[static_cast<std::size_t>(s)];
      const Region own = b.input(mod(r - 2 - k, p) * n + s, 1);
      const Region arrived = arrivals[static_cast<std::size_t>(s)].next(own);
      b.sendrecv((r + 1) % p, k == 0 ? b.input(mod(r - 1, p) * n + s, 1) : sum, mod(r - 1, p), arrived);
      sum = k == p - 2 ? b.output(s, 1) : arrived;
      b.reduce(sum, arrived, own);
      b.next_round();
    }
  }
}

Cost cost(const Shape& shape) {
  const std::int64_t n = patterns::value_of(shape, segments);
  if (shape.size == 1) return {.copied = n};
  const std::int64_t blocks = n * (shape.size - 1);
  return {.rounds = blocks, .sent = blocks, .received = blocks, .reduced = blocks};
}

}  // namespace

CIRCOLL_ALGORITHM(reduce_scatter, ring) {
  return {
      .collectives = {Collective::reduce_scatter, Collective::reduce_scatter_block},
      .summary = "partial results go once around a ring; neighbours only",
      .source = "Patarasuk, Yuan 2009",
      .family = Family::ring,
      .when =
          "long blocks, several ranks on a node: one message at a time crosses a port. Measured at 100 Mbit/s: from 16 "
          "KiB on",
      .peers = {openmpi("ring", {Collective::reduce_scatter}), ucc("ring")},
      .needs = {.commutative = true},
      .guarantees = {.same_bits = true},
      .rotation = Rotation::ranks,
      .formula = {.rounds = "n(p-1)", .sent = "n(p-1)", .reduced = "n(p-1)"},
      .params = {segments},
      .cost = cost,
      .build = build,
  };
}
